package excerpt

import (
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/trace"
)

// slack is the time around the range whose generations of Go's execution trace are in: events may be
// read later than they were written.
const slack = 10_000_000 // ns

// partSize is the number of bytes of a Go execution trace in one block, in a chunk of the usual size.
const partSize = 32 << 10

// generationID identifies a generation of Go's execution trace.
type generationID struct {
	stream uint32
	place  int // from 1 on
}

// planGenerations chooses the generations that touch the range. If there is none, the nearest is in: the
// program was traced, and what its goroutines did in the range is not known.
func (m *maker) planGenerations() error {
	m.generations, m.goroutines = map[generationID]bool{}, map[uint64]*alive{}
	return m.eachTraced(func(s *trace.Sched, all []trace.GoTrace) error {
		nearest, distance := generationID{}, int64(math.MaxInt64)
		for i := range all {
			id := generationID{stream: all[i].Stream}
			err := gotrace.EachGeneration(m.t, s, &all[i], func(_ []byte, g *gotrace.Generation) error {
				id.place++
				away := max(g.From-(m.to+slack), (m.from-slack)-g.To, 0)
				if away == 0 {
					m.generations[id] = true
				}
				if away < distance {
					nearest, distance = id, away
				}
				return m.ctx.Err()
			})
			if err != nil {
				return err
			}
		}
		if distance > 0 && distance < math.MaxInt64 {
			m.generations[nearest] = true
		}
		return nil
	})
}

// eachTraced calls f with the Go execution traces of the recording, or of each process of a merged
// one.
func (m *maker) eachTraced(f func(s *trace.Sched, all []trace.GoTrace) error) error {
	if len(m.t.Processes()) == 0 {
		return f(nil, slices.DeleteFunc(m.t.GoTraces(), func(g trace.GoTrace) bool { return slices.Contains(m.foreign, g.Stream) }))
	}
	scheds := m.t.Scheds()
	for i := range scheds {
		if err := f(&scheds[i], scheds[i].GoTraces); err != nil {
			return err
		}
	}
	return nil
}

// addGoTraces copies the generations that are in.
func (m *maker) addGoTraces(w *blockWriters) error {
	return m.eachTraced(func(s *trace.Sched, all []trace.GoTrace) error {
		for i := range all {
			if err := m.addGoTrace(w, s, &all[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *maker) addGoTrace(w *blockWriters, s *trace.Sched, g *trace.GoTrace) error {
	out, whole := parts{w: w, stream: g.Stream, size: m.share(partSize)}, true
	id := generationID{stream: g.Stream}
	err := gotrace.EachGeneration(m.t, s, g, func(head []byte, one *gotrace.Generation) error {
		if id.place++; !m.generations[id] {
			return m.ctx.Err()
		}
		whole = one.Whole
		if out.seq == 0 && len(out.b) == 0 {
			out.b = append(out.b, head...)
		}
		for _, b := range one.Blocks() {
			if err := out.write(b); err != nil {
				return err
			}
		}
		return m.ctx.Err()
	})
	if err == nil {
		err = out.flush()
	}
	if err == nil && g.Missing && !whole {
		out.seq++ // behind a gap
		err = w.add(format.BlockGoTrace, format.AppendGoTrace(nil, g.Stream, out.seq, nil))
	}
	return err
}

// parts writes the parts of a Go execution trace.
type parts struct {
	w           *blockWriters
	stream, seq uint32
	size        int    // of a part, in bytes
	b           []byte // less than a part
}

func (p *parts) write(b []byte) error {
	for p.b = append(p.b, b...); len(p.b) >= p.size; p.b = p.b[p.size:] {
		if err := p.w.add(format.BlockGoTrace, format.AppendGoTrace(nil, p.stream, p.seq, p.b[:p.size])); err != nil {
			return err
		}
		p.seq++
	}
	return nil
}

func (p *parts) flush() error {
	if len(p.b) == 0 {
		return nil
	}
	err := p.w.add(format.BlockGoTrace, format.AppendGoTrace(nil, p.stream, p.seq, p.b))
	p.seq++
	p.b = nil
	return err
}
