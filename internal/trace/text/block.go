package text

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// block parses a block's line; ok is false if the word is no block's.
func (a *assembler) block(word string, l *line) (ok bool, err error) {
	t := format.BlockType(0)
	var p []byte
	if word == "block" {
		n, err := parseInt(l.first())
		if err != nil || n < 0 || n > 0xffff {
			return true, errors.New("a block needs its type")
		}
		t = format.BlockType(n)
		w, _ := l.take(notCRC)
		if p, err = hex.DecodeString(w); err != nil {
			return true, err
		}
	} else {
		i := slices.IndexFunc(format.Blocks, func(s format.BlockSpec) bool { return s.Name == word && word != "" })
		if i < 0 {
			return false, nil
		}
		t = format.BlockType(i)
		if p, err = a.payload(&format.Blocks[i], l); err != nil {
			return true, err
		}
	}
	b := format.AppendBlock(nil, t, p)
	if err := a.crc(l, b[8:]); err != nil {
		return true, err
	}
	if err := a.put(b); err != nil {
		return true, err
	}
	return true, l.rest()
}

func notCRC(w string) bool { return !strings.HasPrefix(w, "crc=") }

// payload parses the words of a block.
func (a *assembler) payload(s *format.BlockSpec, l *line) ([]byte, error) {
	vs := make([]format.Value, len(s.Fields))
	own := l
	if strings.HasSuffix(s.Line, " record") { // a record, which has words of the same names
		n := slices.IndexFunc(l.words, func(w string) bool { return !strings.Contains(w, "=") })
		if n = max(n, 0); n > 0 {
			own, l.words = &line{l.words[:n:n]}, l.words[n:]
		}
	}
	for _, word := range strings.Fields(s.Line) {
		key, keyed := strings.CutSuffix(word, "=")
		i := slices.IndexFunc(s.Fields, func(f format.BlockField) bool { return f.Name == key })
		var err error
		switch f := &s.Fields[i]; {
		case f.Form == format.OneRecord:
			if err = own.rest(); own != l && err != nil {
				return nil, err
			}
			vs[i].B, err = a.carried(l)
		case keyed:
			vs[i].N, err = number(f, own)
		default:
			vs[i], err = positional(s, f, l)
		}
		if err != nil {
			return nil, err
		}
	}
	for s.Each != nil {
		w, ok := l.take(notCRC)
		if !ok {
			break
		}
		more, err := each(s, w)
		if err != nil {
			return nil, err
		}
		vs = append(vs, more...)
	}
	return s.Append(nil, vs), nil
}

// number takes key=N, or key=WORD.
func number(f *format.BlockField, l *line) (int64, error) {
	v, ok := l.value(f.Name)
	if !ok {
		return f.Else, nil
	}
	var n int64
	var err error
	switch {
	case f.Words == nil:
		n, err = parseInt(v)
	case v == "" || !slices.Contains(f.Words, v):
		err = errors.New("unknown")
	default:
		n = int64(slices.Index(f.Words, v))
	}
	if err == nil && !f.Fits(n) {
		err = errors.New("too large")
	}
	if err != nil {
		return 0, fmt.Errorf("%s=%s: %w", f.Name, v, err)
	}
	return n, nil
}

// positional takes a value that is identified by its position, or by its form.
func positional(s *format.BlockSpec, f *format.BlockField, l *line) (v format.Value, err error) {
	switch {
	case f.Is == format.Flags:
		for bit, word := range f.Words {
			if l.flag(word) {
				v.N |= 1 << bit
			}
		}
	case f.Form == format.Text || f.Form == format.Text16:
		var text string
		text, _, err = l.quoted()
		v.B = []byte(text)
	case f.Form == format.Bytes:
		w, _ := l.take(notCRC)
		v.B, err = hex.DecodeString(w)
	case f.Words != nil:
		if v.N = int64(slices.Index(f.Words, l.first())); v.N < 0 {
			err = fmt.Errorf("a %s needs its %s", s.Name, f.Name)
		}
	case f.Is == format.NameID:
		if w, ok := l.take(func(w string) bool { return w[0] == '#' }); ok {
			if v.N, err = parseInt(w[1:]); err != nil || !f.Fits(v.N) {
				err = fmt.Errorf("%s is no name's id", w)
			}
		}
	default:
		if v.N, err = parseInt(l.first()); err != nil || !f.Fits(v.N) {
			err = fmt.Errorf("a %s needs its %s", s.Name, f.Name)
		}
	}
	return v, err
}

// each parses a word of a block's repeated part.
func each(s *format.BlockSpec, word string) ([]format.Value, error) {
	parts := strings.Split(word, ":")
	if s.Each[0].Is == format.BeatKey {
		parts = strings.Split(word, "=")
	}
	vs := make([]format.Value, len(s.Each))
	ok := len(parts) == len(vs)
	for i := 0; ok && i < len(vs); i++ {
		var err error
		switch f := &s.Each[i]; {
		case f.Words != nil:
			vs[i].N = int64(slices.Index(f.Words, parts[i]))
			ok = vs[i].N >= 0
		case f.Is == format.BeatKey:
			vs[i].N, err = fieldOf(parts[i])
			ok = err == nil
		default:
			vs[i].N, err = parseInt(parts[i])
			ok = err == nil && f.Fits(vs[i].N)
		}
	}
	if !ok {
		var names []string
		for _, f := range s.Each {
			names = append(names, f.Name)
		}
		return nil, fmt.Errorf("%s: it is no %s of a %s", word, strings.Join(names, ":"), s.Name)
	}
	return vs, nil
}

func fieldOf(key string) (int64, error) {
	for _, f := range format.Fields {
		if f.Name == key {
			return int64(f.Field), nil
		}
	}
	if s, ok := strings.CutPrefix(key, "field-"); ok {
		return parseInt(s)
	}
	return 0, errors.New("unknown field")
}

// appendBlock appends a block's line: in hex where its words would not assemble to the same bytes.
func (n *names) appendBlock(b []byte, t format.BlockType, p []byte) []byte {
	if s := format.BlockOf(t); s != nil {
		if vs, err := s.Read(nil, p); err == nil && bytes.Equal(s.Append(nil, vs), p) {
			if line, ok := n.appendWords(append(b, s.Name...), s, vs); ok {
				return line
			}
		}
	}
	return hex.AppendEncode(append(b, "block "+itoa(int64(t))+" "...), p)
}

// appendWords appends the values; ok is false if one of them has no text form.
func (n *names) appendWords(b []byte, s *format.BlockSpec, vs []format.Value) (line []byte, ok bool) {
	for _, word := range strings.Fields(s.Line) {
		key, keyed := strings.CutSuffix(word, "=")
		i := slices.IndexFunc(s.Fields, func(f format.BlockField) bool { return f.Name == key })
		f := &s.Fields[i]
		if f.Is == format.MemberNumber && vs[i].N == 0 {
			continue
		}
		if f.Is != format.Flags {
			b = append(b, ' ')
		}
		if keyed {
			b = append(b, word...)
		}
		if b, ok = n.appendValue(b, f, vs[i]); !ok {
			return b, false
		}
	}
	for rest := vs[len(s.Fields):]; len(rest) > 0; rest = rest[len(s.Each):] {
		if b, ok = appendEach(append(b, ' '), s, rest); !ok {
			return b, false
		}
	}
	return b, true
}

// appendValue appends the value of a field.
func (n *names) appendValue(b []byte, f *format.BlockField, v format.Value) (line []byte, ok bool) {
	switch {
	case f.Is == format.Flags:
		for bit, word := range f.Words {
			if v.N&(1<<bit) != 0 {
				b = append(append(b, ' '), word...)
			}
		}
		return b, v.N>>len(f.Words) == 0
	case f.Form == format.Text || f.Form == format.Text16:
		return strconv.AppendQuote(b, string(v.B)), true
	case f.Form == format.Bytes:
		return hex.AppendEncode(b, v.B), true
	case f.Form == format.OneRecord:
		r := format.DecodeRecord(v.B)
		b = n.appendRecord(b, &r, format.PathGo)
		if r.Ext() {
			b = n.appendExt(append(b, " |"...), v.B[format.RecordSize:], &extText{})
		}
		return b, true
	case f.Words != nil:
		return append(b, f.Word(v.N)...), f.Word(v.N) != ""
	case f.Is == format.NameID:
		return append(append(b, '#'), itoa(v.N)...), true
	case f.Is == format.Address:
		return fmt.Appendf(b, "%#x", uint64(v.N)), true
	}
	return append(b, itoa(v.N)...), true
}

// appendEach appends one element of a block's repeated part.
func appendEach(b []byte, s *format.BlockSpec, vs []format.Value) (line []byte, ok bool) {
	sep := byte(':')
	if s.Each[0].Is == format.BeatKey {
		sep = '='
	}
	for i := range s.Each {
		if i > 0 {
			b = append(b, sep)
		}
		switch f := &s.Each[i]; {
		case f.Words != nil:
			b = append(b, f.Word(vs[i].N)...)
		case f.Is == format.Address:
			b = fmt.Appendf(b, "%#x", uint64(vs[i].N))
		case f.Is != format.BeatKey:
			b = append(b, itoa(vs[i].N)...)
		case vs[i].N != int64(uint16(vs[i].N)):
			return b, false
		default:
			b = append(b, format.Field(vs[i].N).String()...)
		}
	}
	return b, true
}
