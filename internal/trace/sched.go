package trace

import (
	"cmp"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// schedRefs is where the blocks are that tell of the scheduler and of locks: they
// are many, and read only by who asks for them.
type schedRefs struct {
	parts    []partRef // of Go execution traces
	switches []int64
	locks    []int64
}

type partRef struct {
	stream, seq uint32
	loc         int64
	size        int64
}

// schedBlock takes note of a block that is read later.
func (t *Trace) schedBlock(typ format.BlockType, p []byte, loc int64) error {
	switch typ {
	case format.BlockGoTrace:
		stream, seq, part, err := format.DecodeGoTrace(p)
		if err == nil {
			t.sched.parts = append(t.sched.parts, partRef{stream, seq, loc, int64(len(part))})
		}
		return err
	case format.BlockSwitch:
		_, _, err := format.CheckSwitches(p)
		if err == nil {
			t.sched.switches = append(t.sched.switches, loc)
		}
		return err
	default:
		l, err := format.DecodeLockSums(p)
		if err == nil {
			err = t.sawTime(l.Ticks)
		}
		if err == nil {
			t.sched.locks = append(t.sched.locks, loc)
		}
		return err
	}
}

// sortedParts are the parts of Go execution traces by stream and part.
func (t *Trace) sortedParts() []partRef {
	parts := slices.Clone(t.sched.parts)
	slices.SortStableFunc(parts, func(a, b partRef) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.seq, b.seq))
	})
	return parts
}

// GoTrace is a Go execution trace that was recorded along.
type GoTrace struct {
	Stream uint32
	Size   int64
	// Missing tells that a part in the middle, or the first one, is not there: a
	// ring has overwritten it, or there was no room for it. What can be read ends
	// before it.
	Missing bool
	parts   []partRef
	t       *Trace
}

// GoTraces lists the Go execution traces, by the order in which they were taken.
func (t *Trace) GoTraces() []GoTrace {
	parts := t.sortedParts()
	var all []GoTrace
	for i, p := range parts {
		if i == 0 || parts[i-1].stream != p.stream {
			all = append(all, GoTrace{Stream: p.stream, t: t})
		}
		g := &all[len(all)-1]
		switch {
		case int(p.seq) == len(g.parts) && !g.Missing:
			g.parts = append(g.parts, p)
			g.Size += p.size
		case int(p.seq) >= len(g.parts):
			g.Missing = true
		}
	}
	return all
}

// Reader reads its bytes, up to the first part that is missing.
func (g *GoTrace) Reader() io.Reader { return &partReader{t: g.t, parts: g.parts} }

type partReader struct {
	t     *Trace
	parts []partRef
	b     blockReader
	rest  []byte
}

func (r *partReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.parts) == 0 {
			return 0, io.EOF
		}
		next := r.parts[0]
		r.parts = r.parts[1:]
		payload, err := r.b.read(r.t, next.loc, format.BlockGoTrace)
		if err == errGone || err == nil && payload == nil {
			r.parts = nil // overwritten, or changed, since
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		_, _, r.rest, _ = format.DecodeGoTrace(payload)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// EachSwitches calls f with what is known of threads on CPUs, by the order in which
// it was written: of each thread by time. The argument is reused from call to call.
func (t *Trace) EachSwitches(f func(*format.Switches) bool) error {
	var s format.Switches
	return t.eachLater(t.sched.switches, format.BlockSwitch, func(p []byte) bool {
		var err error
		if s, err = format.DecodeSwitches(s.List[:0], p); err != nil {
			return true
		}
		return f(&s)
	})
}

// HasSwitches tells whether there is anything for EachSwitches.
func (t *Trace) HasSwitches() bool { return len(t.sched.switches) > 0 }

// EachLockSums calls f with what was counted of locks, by the order in which it was
// written.
func (t *Trace) EachLockSums(f func(*format.LockSums) bool) error {
	return t.eachLater(t.sched.locks, format.BlockLock, func(p []byte) bool {
		l, err := format.DecodeLockSums(p)
		return err != nil || f(&l)
	})
}

func (t *Trace) eachLater(locs []int64, typ format.BlockType, f func(p []byte) bool) error {
	var b blockReader
	for _, loc := range locs {
		p, err := b.read(t, loc, typ)
		if err == errGone || err == nil && p == nil {
			continue
		}
		if err != nil {
			return err
		}
		if !f(p) {
			return nil
		}
	}
	return nil
}

// blockReader reads blocks whose places are known; neighbours cost one reading.
type blockReader struct {
	buf []byte
	at  int64
	n   int
}

// read returns the payload of the block at loc, nil if there is none of that type any
// more. It is good until the next call.
func (b *blockReader) read(t *Trace, loc int64, typ format.BlockType) ([]byte, error) {
	cs := int64(t.header.ChunkSize)
	if off := loc / cs * cs; b.buf == nil || off != b.at {
		if b.buf == nil {
			b.buf = make([]byte, cs)
		}
		b.at = -1
		n, err := t.readLoc(b.buf, off)
		if err != nil {
			return nil, err
		}
		b.at, b.n = off, n
	}
	if loc%cs >= int64(b.n) {
		return nil, nil
	}
	got, p, _, err := format.DecodeBlock(b.buf[loc%cs : b.n])
	if err != nil || got != typ {
		return nil, nil
	}
	return p, nil
}
