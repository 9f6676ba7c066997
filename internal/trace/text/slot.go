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

// slots parses the words of an extension and returns its bytes. It notes labels to be filled in at
// places from at on.
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
		s.Value, err = parseUint(v)
		return s, "", err
	}
	i := slices.Index(format.SlotNames[1:], name) + 1
	if i == 0 || name == "" {
		return s, "", fmt.Errorf("unknown type of slot")
	}
	switch s.Type = format.SlotType(i); {
	case s.Type == format.SlotString || s.Type == format.SlotType_:
		s.Str, s.Full, err = stringValue(v)
	case s.Type == format.SlotLoc && strings.HasPrefix(v, "@"):
		label = v
	default:
		s.Value, err = a.names.slotValue(s.Type, v)
	}
	return s, label, err
}

// stringValue parses "text", or "text"/N of a text that had N bytes.
func stringValue(v string) (b []byte, full int, err error) {
	q, err := strconv.QuotedPrefix(v)
	if err != nil {
		return nil, 0, errQuote
	}
	text, err := strconv.Unquote(q)
	if err != nil {
		return nil, 0, err
	}
	rest := v[len(q):]
	if rest == "" {
		return []byte(text), len(text), nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(rest, "/"), 10, 32)
	if err != nil {
		err = fmt.Errorf("the length that it had: %w", err)
	}
	return []byte(text), int(n), err
}

// slotValue parses the value of a slot whose type has no bytes.
func (n *names) slotValue(t format.SlotType, v string) (uint64, error) {
	switch {
	case t == format.SlotKey && strings.HasPrefix(v, `"`):
		text, err := strconv.Unquote(v)
		if err != nil {
			return 0, err
		}
		id, err := n.id("", text)
		return uint64(id), err
	case t == format.SlotKey:
		return parseUint(strings.TrimPrefix(v, "#"))
	case t == format.SlotBool && v == "true":
		return 1, nil
	case t == format.SlotBool && v == "false":
		return 0, nil
	case t == format.SlotFloat && strings.HasPrefix(v, "bits:"):
		return parseUint(v[len("bits:"):])
	case t == format.SlotFloat:
		f, err := strconv.ParseFloat(v, 64)
		return math.Float64bits(f), err
	case t == format.SlotBegin && strings.Contains(v, "/"):
		return n.head(v)
	}
	return parseUint(v)
}

// parseUint reads 64 bits, signed or not.
func parseUint(s string) (uint64, error) {
	n, err := parseInt(s)
	return uint64(n), err
}

// AppendSlot appends a slot as its word; name returns the names of keys.
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

// appendFloat appends the number, or its bits where the decimal number would not assemble to the
// same bits: only one NaN has a name.
func appendFloat(b []byte, bits uint64) []byte {
	f := math.Float64frombits(bits)
	if f != f && bits != math.Float64bits(math.NaN()) {
		return append(append(b, "bits:0x"...), strconv.FormatUint(bits, 16)...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
