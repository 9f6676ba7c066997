package text

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// switchWords are the kinds of switches by number.
var switchWords = []string{"in", "out", "preempt"}

// schedPayload reads the words of a gotrace, switch or lock block.
func schedPayload(t format.BlockType, l *line) ([]byte, error) {
	switch t {
	case format.BlockGoTrace:
		return goTracePayload(l)
	case format.BlockSwitch:
		return switchPayload(l)
	}
	var s format.LockSums
	s.Acquired = -1
	kind := slices.Index(format.LockKindNames, l.first())
	name, ok := l.take(func(w string) bool { return w[0] == '#' })
	if kind < 0 {
		return nil, errors.New("a lock needs its kind")
	}
	var id int64
	var err error
	if ok {
		id, err = parseInt(name[1:])
	}
	if err != nil || id < 0 || id >= format.MaxNames {
		return nil, fmt.Errorf("%s is no name's id", name)
	}
	var addr int64
	s.Kind, s.Name = format.LockKind(kind), uint16(id)
	err = l.numbers([]string{"ticks", "addr", "acquired", "contended", "short", "short_ns"}, &s.Ticks, &addr, &s.Acquired, &s.Contended, &s.Short, &s.ShortWait)
	s.Addr = uint64(addr)
	return format.AppendLockSums(nil, &s), err
}

func goTracePayload(l *line) ([]byte, error) {
	stream, part := int64(1), int64(0)
	err := l.numbers([]string{"stream", "part"}, &stream, &part)
	if err == nil && (stream < 0 || stream > 1<<32-1 || part < 0 || part > 1<<32-1) {
		err = fmt.Errorf("stream=%d part=%d: too large", stream, part)
	}
	w, _ := l.take(func(w string) bool { return !strings.HasPrefix(w, "crc=") })
	b, err2 := hex.DecodeString(w)
	return format.AppendGoTrace(nil, uint32(stream), uint32(part), b), errors.Join(err, err2)
}

func switchPayload(l *line) ([]byte, error) {
	s := format.Switches{First: l.flag("first"), Lost: l.flag("lost"), On: l.flag("on")}
	var thread int64
	err := l.numbers([]string{"thread", "base", "until"}, &thread, &s.Base, &s.Until)
	if err != nil {
		return nil, err
	}
	s.Thread = uint32(thread)
	for {
		w, ok := l.take(func(w string) bool { return !strings.HasPrefix(w, "crc=") })
		if !ok {
			return format.AppendSwitches(nil, &s), nil
		}
		how, at, _ := strings.Cut(w, ":")
		kind := slices.Index(switchWords, how)
		ns, err := parseInt(at)
		if kind < 0 || err != nil {
			return nil, fmt.Errorf("%s: a switch is in:ns, out:ns or preempt:ns", w)
		}
		s.List = append(s.List, format.Switch{Time: ns, How: format.SwitchKind(kind)})
	}
}

// appendSched appends the line of a good gotrace, switch or lock block; ok is false
// for one that its line would not give back.
func appendSched(b []byte, t format.BlockType, p []byte) (line []byte, ok bool) {
	switch t {
	case format.BlockGoTrace:
		stream, part, data, err := format.DecodeGoTrace(p)
		if err != nil {
			return b, false
		}
		return append(fmt.Appendf(b, "gotrace stream=%d part=%d ", stream, part), hexOf(data)...), true
	case format.BlockSwitch:
		s, err := format.DecodeSwitches(nil, p)
		if err != nil || !bytes.Equal(format.AppendSwitches(nil, &s), p) {
			return b, false
		}
		b = fmt.Appendf(b, "switch thread=%d base=%d until=%d", s.Thread, s.Base, s.Until)
		for _, f := range []struct {
			set  bool
			word string
		}{{s.First, " first"}, {s.Lost, " lost"}, {s.On, " on"}} {
			if f.set {
				b = append(b, f.word...)
			}
		}
		for _, w := range s.List {
			b = fmt.Appendf(b, " %s:%d", switchWords[w.How], w.Time)
		}
		return b, true
	}
	s, err := format.DecodeLockSums(p)
	if err != nil || !bytes.Equal(format.AppendLockSums(nil, &s), p) {
		return b, false
	}
	return fmt.Appendf(b, "lock %s #%d ticks=%d addr=%#x acquired=%d contended=%d short=%d short_ns=%d",
		format.LockKindNames[s.Kind], s.Name, s.Ticks, s.Addr, s.Acquired, s.Contended, s.Short, s.ShortWait), true
}
