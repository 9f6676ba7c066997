package args

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/format"
)

// maxText limits the length of a Taskf's text: a format of 1 KiB whose verbs each
// have a width could ask for hundreds of megabytes.
const maxText = 4 << 10

// appendText appends the result of fmt.Sprintf for a Taskf's format and its
// positional arguments; those by scope.KV are not operands. The result differs
// where the trace lacks information: values of other types are shown as their
// type's name, <pkg.T>, integers and floats have lost the width of their type
// (%T), and the results of String methods are unknown. Wrong verbs and missing
// operands appear as in fmt. A format that has, or may have, padding to more than
// 999 columns is shown unchanged.
func appendText(b []byte, f string, slots []format.Slot) []byte {
	start := len(b)
	slot := operand(slots, 0)
	for i := 0; i < len(f); {
		c := f[i]
		if c != '%' {
			b = append(b, c)
			i++
			continue
		}
		// The verbs of nearly all formats, without a conversion to interfaces; fmt
		// formats all others.
		if i+1 < len(f) && f[i+1] == '%' {
			b = append(b, '%')
			i += 2
			continue
		}
		if i+1 == len(f) || slot == len(slots) {
			return appendSlow(b[:start], f, slots)
		}
		var ok bool
		if b, ok = appendPlain(b, f[i+1], &slots[slot]); !ok {
			return appendSlow(b[:start], f, slots)
		}
		slot = operand(slots, slot+1)
		i += 2
	}
	if slot != len(slots) {
		return appendSlow(b[:start], f, slots)
	}
	return bounded(b, start)
}

// operand returns the index of the first positional argument from i on.
func operand(slots []format.Slot, i int) int {
	for i < len(slots) {
		switch slots[i].Type {
		case format.SlotInt, format.SlotUint, format.SlotFloat, format.SlotBool,
			format.SlotDuration, format.SlotString, format.SlotType_:
			return i
		case format.SlotKey:
			i++ // and its value
		}
		i++
	}
	return len(slots)
}

func appendPlain(b []byte, verb byte, s *format.Slot) ([]byte, bool) {
	v := verb == 'v'
	switch {
	case s.Type == format.SlotInt && (v || verb == 'd'):
		return strconv.AppendInt(b, s.Int(), 10), true
	case s.Type == format.SlotUint && (v || verb == 'd'):
		return strconv.AppendUint(b, s.Value, 10), true
	case s.Type == format.SlotBool && (v || verb == 't'):
		return strconv.AppendBool(b, s.Value != 0), true
	case s.Type == format.SlotDuration && (v || verb == 's'):
		return append(b, time.Duration(s.Int()).String()...), true
	case s.Type == format.SlotString && (v || verb == 's') && len(s.Str) == s.Full:
		return append(b, s.Str...), true
	}
	return b, false
}

func appendSlow(b []byte, f string, slots []format.Slot) []byte {
	if wide(f, slots) {
		return append(b, f...)
	}
	var operands []any
	for i := operand(slots, 0); i < len(slots); i = operand(slots, i+1) {
		operands = append(operands, value(&slots[i]))
	}
	n := len(b)
	b = fmt.Appendf(b, f, operands...)
	return bounded(b, n)
}

// bounded cuts the text that begins at n if it is too long.
func bounded(b []byte, n int) []byte {
	if len(b)-n > maxText {
		full, cut := len(b)-n, maxText
		for cut > 0 && !utf8.RuneStart(b[n+cut]) {
			cut--
		}
		b = appendCut(b[:n+cut], full)
	}
	return b
}

// wide reports whether a verb of a format has a number of four digits, or takes a
// number from the operands while one of them is that large: fmt allows padding of
// a million columns, which is too much here.
func wide(f string, slots []format.Slot) bool {
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			continue
		}
		for digits := 0; i+1 < len(f) && strings.IndexByte("+-# 0123456789.*[]", f[i+1]) >= 0; i++ {
			switch c := f[i+1]; {
			case c == '*' && anyLarge(slots):
				return true
			case c < '0' || c > '9':
				digits = 0
			default:
				if digits++; digits > 3 {
					return true
				}
			}
		}
		i++ // the verb, which may be a %
	}
	return false
}

func anyLarge(slots []format.Slot) bool {
	for i := range slots {
		s := &slots[i]
		if (s.Type == format.SlotInt || s.Type == format.SlotUint) && (s.Int() > 999 || s.Int() < -999) {
			return true
		}
	}
	return false
}

func value(s *format.Slot) any {
	switch s.Type {
	case format.SlotInt:
		// The integer type is not recorded; most are int.
		if v := int(s.Int()); int64(v) == s.Int() {
			return v
		}
		return s.Int()
	case format.SlotUint:
		return s.Value
	case format.SlotFloat:
		return s.Float()
	case format.SlotBool:
		return s.Value != 0
	case format.SlotDuration:
		return time.Duration(s.Int())
	case format.SlotType_:
		return typeName(s.Str)
	}
	if len(s.Str) < s.Full {
		return string(appendCut(append([]byte(nil), s.Str...), s.Full))
	}
	return string(s.Str)
}

// typeName prints as <pkg.T> with every verb.
type typeName string

func (t typeName) Format(f fmt.State, _ rune) { io.WriteString(f, "<"+string(t)+">") }

// appendCut appends the mark for a text that had full bytes.
func appendCut(b []byte, full int) []byte {
	b = append(b, "… ("...)
	b = strconv.AppendInt(b, int64(full), 10)
	return append(b, " bytes)"...)
}
