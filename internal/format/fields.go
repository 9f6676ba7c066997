package format

import (
	"encoding/binary"
	"fmt"
)

// Sound calls bad with a sentence for each value that no writer of this version writes:
// reserved bytes that are not zero, undefined flags, data behind the fields, and numbers
// without a word.
func (s *BlockSpec) Sound(vs []Value, bad func(string)) {
	for i, v := range vs {
		f := s.Field(i)
		switch {
		case f.Name == "" && v.N != 0:
			bad("reserved bytes are not zero")
		case f.Is == Flags && v.N>>len(f.Words) != 0:
			bad(fmt.Sprintf("the flags are %#x", v.N))
		case f.Is != Flags && f.Words != nil && f.Word(v.N) == "":
			bad(fmt.Sprintf("%s is %d", f.Name, v.N))
		}
	}
}

// Times appends the times, in ticks of the trace's clock, with which the payload p begins;
// none if it is too short.
func (s *BlockSpec) Times(dst []int64, p []byte) []int64 {
	for i := range s.Fields {
		if s.Fields[i].Is != tickTime || len(p) < 8*(i+1) {
			break
		}
		dst = append(dst, int64(binary.LittleEndian.Uint64(p[8*i:])))
	}
	return dst
}

// Fits reports whether the field has room for a number.
func (f *BlockField) Fits(n int64) bool {
	bits := 64
	if int(f.Form) < len(sizes) && sizes[f.Form] > 0 {
		bits = 8 * sizes[f.Form]
	}
	return bits >= 64 || n>>bits == 0
}

// Word returns the word for a number, empty if it has none.
func (f *BlockField) Word(n int64) string {
	if n >= 0 && n < int64(len(f.Words)) {
		return f.Words[n]
	}
	return ""
}
