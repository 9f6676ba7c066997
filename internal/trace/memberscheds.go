package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// Sched holds the Go execution traces and the switches of a process in a merged trace.
type Sched struct {
	Process
	Own      format.Sched
	Wall     int64 // its wall clock at the start of its own trace
	GoTraces []GoTrace
}

func (t *Trace) memberSched(p []byte, _ format.Loc) error {
	s, err := format.DecodeSched(p)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(t.scheds, func(x format.Sched) bool { return x.Number == s.Number }) {
		return fmt.Errorf("%w: a second one of the process %d", format.ErrCorrupt, s.Number)
	}
	t.scheds = append(t.scheds, s)
	return nil
}

// Scheds lists the scheds of a merged trace, by the processes' numbers: those of kept processes
// that have a Go execution trace.
func (t *Trace) Scheds() []Sched {
	var list []Sched
	all := t.GoTraces()
	for _, s := range t.scheds {
		if t.kept != nil && !t.kept.numbers[s.Number] {
			continue
		}
		i, ok := t.member(s.Number)
		x := Sched{Own: s}
		for _, g := range all {
			if g.Stream >= s.First && g.Stream-s.First < s.Streams {
				x.GoTraces = append(x.GoTraces, g)
			}
		}
		if !ok || x.GoTraces == nil {
			continue
		}
		x.Process = t.process(t.members[i])
		x.Wall = t.header.StartWall + x.From - x.Offset
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b Sched) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// At converts a time of the process's own trace to one of the merged trace, in ns from its start.
func (s *Sched) At(ns int64) int64 {
	ns = min(max(ns, 0), s.Own.End)
	drift := s.To - s.From - s.Own.End
	if drift == 0 {
		return s.From + ns
	}
	return s.From + ns + int64(math.Floor(float64(drift)/float64(s.Own.End)*float64(ns)))
}

// Goid returns the id in the merged trace of a goroutine of the process; 0 if it is too large, or
// not known.
func (s *Sched) Goid(id uint64) uint64 {
	if id == 0 || id >= 1<<(s.Shift-1) {
		return 0
	}
	return uint64(s.Number)<<s.Shift | id
}
