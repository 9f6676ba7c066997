package text

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// slots reads the words of an extension and returns its bytes. Labels are noted
// as to be filled in at places from at on.
func (a *assembler) slots(words []string, at int) ([]byte, error) {
	if len(words) == 1 && strings.HasPrefix(words[0], "raw:") {
		return hex.DecodeString(words[0][len("raw:"):])
	}
	var list []format.Slot
	off := 8
	for _, w := range words {
		s, label, err := a.slot(w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		if label != "" {
			a.uses = append(a.uses, use{at + off, label, a.lineNo})
		}
		off += 8 + (len(s.Str)+7)&^7
		list = append(list, s)
	}
	return format.AppendExt(nil, list)
}

func (a *assembler) slot(w string) (s format.Slot, label string, err error) {
	name, v, ok := strings.Cut(w, ":")
	if !ok {
		return s, "", fmt.Errorf("a slot is type:value")
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(name, "slot"), 10, 4); err == nil && strings.HasPrefix(name, "slot") && n != 0 {
		s.Type = format.SlotType(n)
		x, err := parseInt(v)
		s.Value = uint64(x)
		return s, "", err
	}
	i := slices.Index(format.SlotNames[1:], name) + 1
	if i == 0 || name == "" {
		return s, "", fmt.Errorf("unknown type of slot")
	}
	s.Type = format.SlotType(i)
	switch s.Type {
	case format.SlotString, format.SlotType_:
		q, err := strconv.QuotedPrefix(v)
		if err != nil {
			return s, "", errQuote
		}
		text, err := strconv.Unquote(q)
		if err != nil {
			return s, "", err
		}
		s.Str, s.Full = []byte(text), len(text)
		if rest := v[len(q):]; rest != "" {
			full, err := strconv.ParseUint(strings.TrimPrefix(rest, "/"), 10, 32)
			if err != nil {
				return s, "", fmt.Errorf("the length that it had: %w", err)
			}
			s.Full = int(full)
		}
		return s, "", nil
	case format.SlotKey:
		var id uint16
		if strings.HasPrefix(v, `"`) {
			text, err := strconv.Unquote(v)
			if err != nil {
				return s, "", err
			}
			id, err = a.names.id("", text)
			s.Value = uint64(id)
			return s, "", err
		}
		x, err := parseInt(strings.TrimPrefix(v, "#"))
		s.Value = uint64(x)
		return s, "", err
	case format.SlotBool:
		switch v {
		case "true":
			s.Value = 1
			return s, "", nil
		case "false":
			return s, "", nil
		}
	case format.SlotLoc:
		if strings.HasPrefix(v, "@") {
			return s, v, nil
		}
	case format.SlotFloat:
		if b, ok := strings.CutPrefix(v, "bits:"); ok {
			x, err := parseInt(b)
			s.Value = uint64(x)
			return s, "", err
		}
		f, err := strconv.ParseFloat(v, 64)
		s.Value = math.Float64bits(f)
		return s, "", err
	case format.SlotBegin:
		if strings.Contains(v, "/") {
			s.Value, err = a.names.head(v)
			return s, "", err
		}
	}
	x, err := parseInt(v)
	s.Value = uint64(x)
	return s, "", err
}

// AppendSlot appends a slot as its word; name gives the names of keys.
func AppendSlot(b []byte, s *format.Slot, name func(id uint16) string) []byte {
	t := s.Type & 15
	if format.SlotNames[t] == "" {
		return append(append(b, "slot"+itoa(int64(t))+":"...), utoa(s.Value)...)
	}
	b = append(append(b, format.SlotNames[t]...), ':')
	switch t {
	case format.SlotString, format.SlotType_:
		b = strconv.AppendQuote(b, string(s.Str))
		if s.Full != len(s.Str) {
			b = strconv.AppendInt(append(b, '/'), int64(s.Full), 10)
		}
	case format.SlotKey:
		if s.Value < format.MaxNames {
			return append(b, name(uint16(s.Value))...)
		}
		b = strconv.AppendUint(append(b, '#'), s.Value, 10)
	case format.SlotBool:
		switch s.Value {
		case 0:
			return append(b, "false"...)
		case 1:
			return append(b, "true"...)
		}
		b = strconv.AppendUint(b, s.Value, 10)
	case format.SlotFloat:
		b = appendFloat(b, s.Value)
	case format.SlotUint, format.SlotLoc, format.SlotGoid, format.SlotCut:
		b = strconv.AppendUint(b, s.Value, 10)
	case format.SlotAddr:
		b = strconv.AppendUint(append(b, "0x"...), s.Value, 16)
	case format.SlotBegin:
		b = appendHead(b, s.Value, name)
	default:
		b = strconv.AppendInt(b, s.Int(), 10)
	}
	return b
}

// appendFloat appends the number, or its bits where the number would not give
// them back: only one NaN has a name.
func appendFloat(b []byte, bits uint64) []byte {
	f := math.Float64frombits(bits)
	if f != f && bits != math.Float64bits(math.NaN()) {
		return append(append(b, "bits:0x"...), strconv.FormatUint(bits, 16)...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
