package trace

import (
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// maxHolds is the number of holds of a row that are kept, the last ones.
const maxHolds = 256

// makeRoom adds finished rows to the stretch, if there are many; to the last stretch all rows. So
// they are reported, and need not be kept.
func (s *runningRows) makeRoom(st *stretch) {
	if !st.last && len(s.m) < s.limit {
		return
	}
	for key, g := range s.m {
		over := true
		for i := range g.runs {
			over = over && g.runs[i].stop <= st.from
		}
		if over || st.last {
			st.row(key)
		}
	}
	s.limit = max(sweepAt, 2*len(s.m))
}

// addTo adds to the row of a stretch, which ends at the tick to, the scopes that run on it.
func (s *runningRows) addTo(x *localRow, to int64) {
	g := s.m[x.key]
	if g == nil {
		return
	}
	x.running = &runningRow{g.since, slices.Clone(g.runs)}
	kept := g.runs[:0]
	for _, r := range g.runs {
		if r.stop > to {
			kept = append(kept, r)
		}
	}
	if g.runs, g.since = kept, to; len(kept) == 0 {
		delete(s.m, x.key)
	}
}

// add adds a scope of a row that continues at the tick to. Scopes that it outlasts are never the
// innermost again, and are dropped. Otherwise a scope that never ends would be reported in every
// stretch.
func (s *runningRows) add(x *localRow, m *carryOver, to int64) {
	g := s.m[x.key]
	if g == nil {
		g = &runningRow{}
		s.m[x.key] = g
	}
	g.since = to
	g.runs = append(g.runs, continuing{m.key, m.stop, m.loc, m.head, x.trackAtEnd, m.goroutineEnded})
	g.dropOutlasted()
}

// dropOutlasted drops the scopes that the last one outlasts. A wait outlasts only other waits, so
// that scopes that run during it are kept; and an open scope is outlasted only by another open one.
func (g *runningRow) dropOutlasted() {
	last := g.runs[len(g.runs)-1]
	if last.kind() == format.KindHold {
		g.dropFirstHold()
		return
	}
	outlasts := func(r *continuing) bool {
		return r.stop <= last.stop && (last.stop == format.MaxTicks || r.stop < format.MaxTicks && (last.goroutineEnded || !r.goroutineEnded)) &&
			(last.kind() != format.KindWait || r.kind() == format.KindWait)
	}
	n := len(g.runs) - 1
	from := n
	for from > 0 && (g.runs[from-1].kind() == format.KindHold || outlasts(&g.runs[from-1])) {
		from--
	}
	kept := g.runs[:from]
	for _, r := range g.runs[from:n] {
		if r.kind() == format.KindHold {
			kept = append(kept, r)
		}
	}
	g.runs = append(kept, last)
}

// dropFirstHold drops the first hold if there are too many.
func (g *runningRow) dropFirstHold() {
	n, first := 0, -1
	for i := range g.runs {
		if g.runs[i].kind() == format.KindHold {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n > maxHolds {
		g.runs = append(g.runs[:first], g.runs[first+1:]...)
	}
}
