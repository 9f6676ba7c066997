package args

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/format"
)

// AppendJSON appends a JSON object, or nothing if list is empty. Integers, durations (in
// nanoseconds) and floats are numbers; floats that JSON can't represent are the strings
// "NaN", "+Inf" and "-Inf". An address is a string like "0xc000012345". A value of which
// only the type's name is recorded is {"type":"pkg.T"}. Each byte of invalid UTF-8
// becomes U+FFFD.
func AppendJSON(b []byte, list []Arg) []byte { return appendObject(b, list, false) }

// AppendDoubles is AppendJSON for readers that store every number as a double: an
// integer beyond 2^53 is a string.
func AppendDoubles(b []byte, list []Arg) []byte { return appendObject(b, list, true) }

func appendObject(b []byte, list []Arg, doubles bool) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, '{')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, list[i].Key)
		b = append(b, ':')
		if v := &list[i].Value; doubles && beyond(v) {
			b = append(b, '"')
			b = appendValue(b, v)
			b = append(b, '"')
		} else {
			b = appendValue(b, v)
		}
	}
	return append(b, '}')
}

// beyond reports whether a value is an integer that a double may not represent exactly.
func beyond(s *format.Slot) bool {
	const most = 1 << 53
	switch s.Type {
	case format.SlotInt, format.SlotDuration:
		return s.Int() > most || s.Int() < -most
	case format.SlotFloat, format.SlotBool, format.SlotString, format.SlotType_, format.SlotAddr:
		return false
	}
	return s.Value > most
}

func appendValue(b []byte, s *format.Slot) []byte {
	switch s.Type {
	case format.SlotInt, format.SlotDuration:
		return strconv.AppendInt(b, s.Int(), 10)
	case format.SlotFloat:
		f := s.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			b = append(b, '"')
			b = strconv.AppendFloat(b, f, 'g', -1, 64)
			return append(b, '"')
		}
		return strconv.AppendFloat(b, f, 'g', -1, 64)
	case format.SlotBool:
		return strconv.AppendBool(b, s.Value != 0)
	case format.SlotString:
		return AppendString(b, s.Str)
	case format.SlotType_:
		b = append(b, `{"type":`...)
		b = AppendString(b, s.Str)
		return append(b, '}')
	case format.SlotAddr:
		b = append(b, `"0x`...)
		b = strconv.AppendUint(b, s.Value, 16)
		return append(b, '"')
	}
	return strconv.AppendUint(b, s.Value, 10)
}

// Valid returns s with each byte of invalid UTF-8 replaced by U+FFFD, as in JSON, so
// that a name is the same text in every export.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// AppendString appends s as a JSON string; each byte of invalid UTF-8 becomes U+FFFD.
func AppendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

const digits = "0123456789abcdef"

// appendEscaped appends s as it is written between the quotes of a JSON string.
func appendEscaped[T string | []byte](b []byte, s T) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			b = append(b, s[done:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, `\n`...)
			case '\t':
				b = append(b, `\t`...)
			default:
				b = append(b, `\u00`...)
				b = append(b, digits[c>>4], digits[c&15])
			}
			i++
			done = i
			continue
		}
		// At most one character's bytes are converted to a string, on the stack.
		r, w := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if r == utf8.RuneError && w == 1 {
			b = append(b, s[done:i]...)
			b = append(b, "\ufffd"...)
			done = i + 1
		}
		i += w
	}
	return append(b, s[done:]...)
}
