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

// addGoTraces copies the generations that touch the range, of the recording or of each process of a
// merged one.
func (m *maker) addGoTraces(w *blockWriters) error {
	if len(m.t.Processes()) == 0 {
		all := slices.DeleteFunc(m.t.GoTraces(), func(g trace.GoTrace) bool { return slices.Contains(m.foreign, g.Stream) })
		return m.addGenerations(w, nil, all)
	}
	scheds := m.t.Scheds()
	for i := range scheds {
		if err := m.addGenerations(w, &scheds[i], scheds[i].GoTraces); err != nil {
			return err
		}
	}
	return nil
}

// generationID identifies a generation.
type generationID struct {
	stream uint32
	place  int
}

// addGenerations copies the generations of a process that touch the range. If there is none it copies
// the nearest one: the process was traced, and what its goroutines did in the range is not known.
func (m *maker) addGenerations(w *blockWriters, s *trace.Sched, all []trace.GoTrace) error {
	nearest, distance, found := generationID{}, int64(math.MaxInt64), false
	err := m.eachGeneration(w, s, all, func(id generationID, g *gotrace.Generation) bool {
		away := int64(0)
		switch {
		case g.From > m.to+slack:
			away = g.From - m.to
		case g.To < m.from-slack:
			away = m.from - g.To
		default:
			found = true
			return true
		}
		if away < distance {
			nearest, distance = id, away
		}
		return false
	})
	if err != nil || found || distance == math.MaxInt64 {
		return err
	}
	return m.eachGeneration(w, s, all, func(id generationID, _ *gotrace.Generation) bool { return id == nearest })
}

// eachGeneration copies the generations for which in returns true.
func (m *maker) eachGeneration(w *blockWriters, s *trace.Sched, all []trace.GoTrace, in func(generationID, *gotrace.Generation) bool) error {
	for i := range all {
		g := &all[i]
		out, place, whole := parts{w: w, stream: g.Stream, size: m.share(partSize)}, 0, true
		err := gotrace.EachGeneration(m.t, s, g, func(head []byte, one *gotrace.Generation) error {
			place++
			if err := m.ctx.Err(); err != nil || !in(generationID{g.Stream, place}, one) {
				return err
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
			return nil
		})
		if err == nil {
			err = out.flush()
		}
		if err == nil && g.Missing && !whole {
			out.seq++ // behind a gap
			err = w.add(format.BlockGoTrace, format.AppendGoTrace(nil, g.Stream, out.seq, nil))
		}
		if err != nil {
			return err
		}
	}
	return nil
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
