package text

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// block reads a block's line; ok is false if the word begins none.
func (a *assembler) block(word string, l *line) (ok bool, err error) {
	t := format.BlockType(0)
	var p []byte
	if word == "block" {
		n, err := parseInt(l.first())
		if err != nil || n < 0 || n > 0xffff {
			return true, errors.New("a block needs its type")
		}
		t = format.BlockType(n)
		w, _ := l.take(func(w string) bool { return !strings.HasPrefix(w, "crc=") })
		if p, err = hex.DecodeString(w); err != nil {
			return true, err
		}
	} else {
		i := slices.Index(format.BlockTypeNames, word)
		if i <= 0 {
			return false, nil
		}
		t = format.BlockType(i)
		if p, err = a.payload(t, l); err != nil {
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

// payload reads the words of a block whose type has a name.
func (a *assembler) payload(t format.BlockType, l *line) ([]byte, error) {
	switch t {
	case format.BlockName:
		id, err := parseInt(l.first())
		if err != nil || id < 0 || id >= format.MaxNames {
			return nil, errors.New("a name needs its id")
		}
		s, _, err := l.quoted()
		return format.AppendName(nil, uint16(id), s), err
	case format.BlockCalib:
		var c format.Calib
		err := l.numbers([]string{"ticks", "mono", "wall", "bracket"}, &c.Ticks, &c.Mono, &c.Wall, &c.Bracket)
		return format.AppendCalib(nil, &c), err
	case format.BlockBeat:
		return beatPayload(l)
	case format.BlockThread:
		return threadPayload(l)
	case format.BlockInfo:
		k, _, err1 := l.quoted()
		v, _, err2 := l.quoted()
		return format.AppendInfo(nil, k, v), errors.Join(err1, err2)
	case format.BlockGap:
		var g format.Gap
		err := l.numbers([]string{"from", "to", "count"}, &g.From, &g.To, &g.Count)
		reason, _ := l.value("reason")
		i := slices.Index(format.LossNames, reason)
		if i <= 0 {
			return nil, errors.Join(err, fmt.Errorf("reason=%s: unknown", reason))
		}
		g.Reason = format.Loss(i)
		return format.AppendGap(nil, &g), err
	case format.BlockStop:
		ticks, err := l.number("ticks", 0)
		return format.AppendTicks(nil, ticks), err
	case format.BlockBreak:
		var before, after int64
		err := l.numbers([]string{"before", "after"}, &before, &after)
		return format.AppendBreak(nil, before, after), err
	case format.BlockNote:
		ticks, err1 := l.number("ticks", 0)
		s, _, err2 := l.quoted()
		return format.AppendNote(nil, ticks, s), errors.Join(err1, err2)
	case format.BlockFrame, format.BlockStack, format.BlockCount:
		return stackPayload(t, l)
	case format.BlockCarry:
		return a.carryPayload(l)
	case format.BlockGoTrace, format.BlockSwitch, format.BlockLock:
		return schedPayload(t, l)
	}
	return nil, fmt.Errorf("block type %d has no form of its own", t)
}

func beatPayload(l *line) ([]byte, error) {
	ticks, err := l.number("ticks", 0)
	if err != nil {
		return nil, err
	}
	var vs []format.FieldValue
	for {
		w, ok := l.take(func(w string) bool { return !strings.HasPrefix(w, "crc=") })
		if !ok {
			return format.AppendBeat(nil, ticks, vs), nil
		}
		key, v, _ := strings.Cut(w, "=")
		f, err := fieldOf(key)
		n, err2 := parseInt(v)
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		vs = append(vs, format.FieldValue{Field: f, Value: n})
	}
}

func fieldOf(key string) (format.Field, error) {
	for _, f := range format.Fields {
		if f.Name == key {
			return f.Field, nil
		}
	}
	if s, ok := strings.CutPrefix(key, "field-"); ok {
		n, err := parseInt(s)
		return format.Field(n), err
	}
	return 0, errors.New("unknown field")
}

func threadPayload(l *line) ([]byte, error) {
	ticks, err := l.number("ticks", 0)
	if err != nil {
		return nil, err
	}
	var ts []format.Thread
	for {
		w, ok := l.take(func(w string) bool { return !strings.HasPrefix(w, "crc=") })
		if !ok {
			return format.AppendThreads(nil, ticks, ts), nil
		}
		f := strings.Split(w, ":")
		if len(f) != 3 {
			return nil, fmt.Errorf("%s: a thread is id:cpu:wait", w)
		}
		var t format.Thread
		for i, dst := range []*int64{&t.ID, &t.CPU, &t.Wait} {
			if *dst, err = parseInt(f[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", w, err)
			}
		}
		ts = append(ts, t)
	}
}

// appendBlock appends the line of a good block.
func (n *names) appendBlock(b []byte, t format.BlockType, p []byte) []byte {
	words := func(kv ...any) []byte {
		b = append(b, format.BlockTypeNames[t]...)
		for i := 0; i < len(kv); i += 2 {
			b = fmt.Appendf(b, " %s=%v", kv[i], kv[i+1])
		}
		return b
	}
	switch t {
	case format.BlockName:
		if id, name, err := format.DecodeName(p); err == nil {
			return fmt.Appendf(b, "name %d %q", id, name)
		}
	case format.BlockCalib:
		if c, err := format.DecodeCalib(p); err == nil && len(p) == 32 {
			return words("ticks", c.Ticks, "mono", c.Mono, "wall", c.Wall, "bracket", c.Bracket)
		}
	case format.BlockBeat:
		if ticks, vs, err := format.DecodeBeat(nil, p); err == nil {
			b = words("ticks", ticks)
			for _, v := range vs {
				b = fmt.Appendf(b, " %s=%d", v.Field, v.Value)
			}
			return b
		}
	case format.BlockThread:
		if ticks, ts, err := format.DecodeThreads(nil, p); err == nil {
			b = words("ticks", ticks)
			for _, t := range ts {
				b = fmt.Appendf(b, " %d:%d:%d", t.ID, t.CPU, t.Wait)
			}
			return b
		}
	case format.BlockInfo:
		if k, v, err := format.DecodeInfo(p); err == nil {
			return fmt.Appendf(b, "info %q %q", k, v)
		}
	case format.BlockGap:
		if g, err := format.DecodeGap(p); err == nil && len(p) == 32 && g.Reason > 0 && int(g.Reason) < len(format.LossNames) {
			return words("from", g.From, "to", g.To, "count", g.Count, "reason", g.Reason)
		}
	case format.BlockStop:
		if ticks, err := format.DecodeTicks(p); err == nil && len(p) == 8 {
			return words("ticks", ticks)
		}
	case format.BlockBreak:
		if before, after, err := format.DecodeBreak(p); err == nil && len(p) == 16 {
			return words("before", before, "after", after)
		}
	case format.BlockNote:
		if ticks, text, err := format.DecodeNote(p); err == nil {
			return fmt.Appendf(words("ticks", ticks), " %q", text)
		}
	case format.BlockFrame, format.BlockStack, format.BlockCount:
		if line, ok := appendStackBlock(b, t, p); ok {
			return line
		}
	case format.BlockCarry:
		if line, ok := n.appendCarry(b, p); ok {
			return line
		}
	case format.BlockGoTrace, format.BlockSwitch, format.BlockLock:
		if line, ok := appendSched(b, t, p); ok {
			return line
		}
	}
	return append(append(b, "block "+itoa(int64(t))+" "...), hexOf(p)...)
}
