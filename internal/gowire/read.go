package gowire

import (
	"encoding/binary"
	"iter"
)

// Batches returns the batches of a generation, up to the first invalid one.
func (g *Generation) Batches() iter.Seq[Batch] {
	return func(yield func(Batch) bool) {
		for _, b := range g.blocks {
			for len(b) > 0 {
				x, size, err := Next(b)
				if err != nil || size == 0 || !yield(x) {
					return
				}
				b = b[size:]
			}
		}
	}
}

// Rest returns the number of bytes after the last whole batch.
func (g *Generation) Rest() int64 {
	n := int64(g.size)
	for _, b := range g.blocks {
		for len(b) > 0 {
			_, size, err := Next(b)
			if err != nil || size == 0 {
				return n
			}
			n, b = n-int64(size), b[size:]
		}
	}
	return n
}

// Snapshot has the clocks at one moment: the trace's own, in ns, and the system's. Traces of
// Go before 1.25 have none.
type Snapshot struct {
	Known       bool
	Trace, Mono int64
	Wall        int64 // ns since 1970 UTC
}

// near limits how far the two readings of a snapshot can be apart, in ns, if the trace's
// clock is the monotonic one divided by 64: the thread may have been taken off the CPU
// between them.
const near = 1e7

// Ahead returns how far the trace's clock is ahead of the monotonic one, or 0 if they are
// the same.
func (s *Snapshot) Ahead() int64 {
	if d := s.Trace - s.Mono; s.Known && (d < -64 || d > near) {
		return d
	}
	return 0
}

// Clock returns the clock snapshot of a generation, and the ns of a unit of its times, 0 if
// unknown.
func (g *Generation) Clock() (s Snapshot, scale float64) {
	for b := range g.Batches() {
		if b.Experimental || len(b.Data) == 0 || b.Data[0] != Sync && b.Data[0] != Frequency {
			continue
		}
		r := Numbers(b.Data)
		if b.Data[0] == Sync {
			r = Numbers(b.Data[1:])
		}
		for !r.Bad {
			switch r.Kind() {
			case Frequency:
				if f := r.Next(); f > 0 && !r.Bad {
					scale = 1.0 / (float64(f) / 1e9)
				}
			case ClockSnapshot:
				at := b.Time + r.Next()
				s = Snapshot{Known: true, Trace: int64(at), Mono: int64(r.Next())}
				s.Wall = int64(r.Next())*1e9 + int64(r.Next())
				s.Known = !r.Bad
			default:
				r.Bad = true
			}
		}
	}
	s.Trace = int64(float64(s.Trace) * scale)
	return s, scale
}

// Reader reads the numbers and bytes of batches.
type Reader struct {
	b   []byte
	Bad bool // the data ended early; all further reads return 0
}

// Numbers returns a reader of b.
func Numbers(b []byte) *Reader { return &Reader{b: b} }

// Kind reads the number of an event; 0 at the end.
func (r *Reader) Kind() byte {
	if r.Bad || len(r.b) == 0 {
		return 0
	}
	k := r.b[0]
	r.b = r.b[1:]
	return k
}

// Next reads a number.
func (r *Reader) Next() uint64 {
	v, n := binary.Uvarint(r.b)
	if r.Bad = r.Bad || n <= 0; r.Bad {
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Bytes reads n bytes.
func (r *Reader) Bytes(n uint64) []byte {
	if r.Bad = r.Bad || n > uint64(len(r.b)); r.Bad {
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}
