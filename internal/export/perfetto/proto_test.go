package perfetto

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// TestEncoding: fields have the bytes of protobuf's documentation, at the limits where
// another byte is added.
func TestEncoding(t *testing.T) {
	long := strings.Repeat("x", 128)
	for _, test := range []struct {
		about string
		got   []byte
		want  string
	}{
		{"the documentation's varint", appendVarint(nil, 1, 150), "08 96 01"},
		{"the documentation's string", appendString(nil, 2, "testing"), "12 07 74 65 73 74 69 6e 67"},
		{"the documentation's message in a message", appendBytes(nil, 3, appendVarint(nil, 1, 150)), "1a 03 08 96 01"},
		{"no default is left out", appendVarint(nil, 1, 0), "08 00"},
		{"the last of one byte", appendVarint(nil, 1, 1<<7-1), "08 7f"},
		{"the first of two", appendVarint(nil, 1, 1<<7), "08 80 01"},
		{"the last of two", appendVarint(nil, 1, 1<<14-1), "08 ff 7f"},
		{"the first of three", appendVarint(nil, 1, 1<<14), "08 80 80 01"},
		{"the last of nine", appendVarint(nil, 1, 1<<63-1), "08 ff ff ff ff ff ff ff ff 7f"},
		{"the largest", appendVarint(nil, 1, math.MaxUint64), "08 ff ff ff ff ff ff ff ff ff 01"},
		{"a negative one", appendInt(nil, 1, -1), "08 ff ff ff ff ff ff ff ff ff 01"},
		{"the most negative one", appendInt(nil, 1, math.MinInt64), "08 80 80 80 80 80 80 80 80 80 01"},
		{"the last field with a tag of one byte", appendVarint(nil, 15, 1), "78 01"},
		{"the first with one of two", appendVarint(nil, 16, 1), "80 01 01"},
		{"the largest field that is used", appendBytes(nil, packetAttributes, ""), "f2 07 00"},
		{"true", appendBool(nil, 1, true), "08 01"},
		{"false", appendBool(nil, 1, false), "08 00"},
		{"a fixed one", appendFixed64(nil, 1, 0x0102030405060708), "09 08 07 06 05 04 03 02 01"},
		{"a double", appendDouble(nil, 1, -2), "09 00 00 00 00 00 00 00 c0"},
		{"a length of one byte", appendString(nil, 1, long[:127])[:3], "0a 7f 78"},
		{"a length of two", appendString(nil, 1, long)[:4], "0a 80 01 78"},
		{"behind what was there", appendVarint([]byte{7}, 1, 1), "07 08 01"},
	} {
		if got := spaced(test.got); got != test.want {
			t.Errorf("%s: %s, want %s", test.about, got, test.want)
		}
	}
}

func spaced(b []byte) string {
	var list []string
	for i := range b {
		list = append(list, hex.EncodeToString(b[i:i+1]))
	}
	return strings.Join(list, " ")
}

// TestStringsAreUTF8: some readers reject the whole file for a string that is not.
func TestStringsAreUTF8(t *testing.T) {
	for text, want := range map[string]string{
		"naïve 世": "naïve 世", "a\xffb": "a\ufffdb", "\xff\xfe": "\ufffd\ufffd", "\xed\xa0\x80": "\ufffd\ufffd\ufffd", "\xe4\xb8": "\ufffd\ufffd", "\x00": "\x00",
	} {
		got := appendString(nil, 1, text)
		if string(got[2:]) != want || int(got[1]) != len(want) {
			t.Errorf("%q came out as %q, want %q", text, got, want)
		}
	}
}
