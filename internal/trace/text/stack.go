package text

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// stackPayload reads the words of a frame, stack or count block.
func stackPayload(t format.BlockType, l *line) ([]byte, error) {
	if t == format.BlockCount {
		return countPayload(l)
	}
	id, err := parseInt(l.first())
	if err != nil || id < 0 || id > 1<<32-1 {
		return nil, fmt.Errorf("a %s needs its id", format.BlockTypeNames[t])
	}
	if t == format.BlockStack {
		s := format.Stack{ID: uint32(id), Cut: l.flag("cut")}
		for {
			w, ok := l.take(func(w string) bool { return !strings.HasPrefix(w, "crc=") })
			if !ok {
				return format.AppendStack(nil, &s), nil
			}
			n, err := parseInt(w)
			if err != nil || n < 0 || n > 1<<32-1 {
				return nil, fmt.Errorf("%s is no frame's id", w)
			}
			s.Frames = append(s.Frames, uint32(n))
		}
	}
	f := format.Frame{ID: uint32(id), Inlined: l.flag("inlined")}
	var err1, err2 error
	f.Function, _, err1 = l.quoted()
	f.File, _, err2 = l.quoted()
	var line, start int64
	err = l.numbers([]string{"line", "start"}, &line, &start)
	f.Line, f.Start = uint32(line), uint32(start)
	return format.AppendFrame(nil, &f), errors.Join(err1, err2, err)
}

func countPayload(l *line) ([]byte, error) {
	ticks, err := l.number("ticks", 0)
	if err != nil {
		return nil, err
	}
	var cs []format.Count
	for {
		w, ok := l.take(func(w string) bool { return !strings.HasPrefix(w, "crc=") })
		if !ok {
			return format.AppendCounts(nil, ticks, cs), nil
		}
		f := strings.Split(w, ":")
		if len(f) != 4 {
			return nil, fmt.Errorf("%s: a count is name:stack:calls:weight", w)
		}
		var v [4]int64
		for i := range v {
			if v[i], err = parseInt(f[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", w, err)
			}
		}
		if v[0] < 0 || v[0] >= format.MaxNames || v[1] < 0 || v[1] > 1<<32-1 {
			return nil, fmt.Errorf("%s: a count is name:stack:calls:weight", w)
		}
		cs = append(cs, format.Count{Name: uint16(v[0]), Stack: uint32(v[1]), Calls: v[2], Weight: v[3]})
	}
}

// appendStackBlock appends the line of a good frame, stack or count block; ok is
// false for one that its line would not give back.
func appendStackBlock(b []byte, t format.BlockType, p []byte) (line []byte, ok bool) {
	var again []byte
	switch t {
	case format.BlockFrame:
		f, err := format.DecodeFrame(p)
		if err != nil {
			return b, false
		}
		again = format.AppendFrame(nil, &f)
		b = fmt.Appendf(b, "frame %d %q %q line=%d start=%d", f.ID, f.Function, f.File, f.Line, f.Start)
		if f.Inlined {
			b = append(b, " inlined"...)
		}
	case format.BlockStack:
		s, err := format.DecodeStack(p)
		if err != nil {
			return b, false
		}
		again = format.AppendStack(nil, &s)
		b = fmt.Appendf(b, "stack %d", s.ID)
		if s.Cut {
			b = append(b, " cut"...)
		}
		for _, f := range s.Frames {
			b = fmt.Appendf(b, " %d", f)
		}
	case format.BlockCount:
		ticks, cs, err := format.DecodeCounts(nil, p)
		if err != nil {
			return b, false
		}
		again = format.AppendCounts(nil, ticks, cs)
		b = fmt.Appendf(b, "count ticks=%d", ticks)
		for _, c := range cs {
			b = fmt.Appendf(b, " %d:%d:%d:%d", c.Name, c.Stack, c.Calls, c.Weight)
		}
	}
	return b, bytes.Equal(again, p)
}
