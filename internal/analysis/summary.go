package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// SummaryOptions say what a Summary counts.
type SummaryOptions struct {
	// ByTrack groups by the name of the row. As a scope's time holds that of the
	// scopes in it, only those count that lie in no other; Self is all that its
	// goroutines spent in scopes.
	ByTrack bool
	// Keep says which events count; nil: all. The others still have their part in
	// whose moment it is.
	Keep func(*trace.Event) bool
	// Breaks are the trace's; what lies across one is in no sum.
	Breaks Breaks
	// From and To bound what counts as self time and as holding: outside, the
	// events that touch the range do not tell the whole. To 0: no bound.
	From, To int64
}

// Summary gathers what `scopeview top` shows.
type Summary struct {
	o     SummaryOptions
	stats map[statsKey]*Stats
	locks map[uint16]*Lock
	rows  rows
}

type statsKey struct {
	name    uint16
	process bool
}

// NewSummary returns an empty Summary.
func NewSummary(o SummaryOptions) *Summary {
	if o.To <= 0 {
		o.To = math.MaxInt64
	}
	s := &Summary{o: o, stats: make(map[statsKey]*Stats), locks: make(map[uint16]*Lock)}
	s.rows.charge = func(r *running, from, to int64) {
		if r.stats != nil {
			r.stats.Self += s.within(from, to)
		}
	}
	s.rows.held = func(l *Lock, by *running, from, to int64) {
		if d := s.within(from, to); d > 0 {
			l.held(by, d)
		}
	}
	return s
}

// within is how much of a stretch lies in the range.
func (s *Summary) within(from, to int64) int64 {
	return max(min(to, s.o.To)-max(from, s.o.From), 0)
}

// Add counts one event. Events come in the reader's order.
func (s *Summary) Add(e *trace.Event) {
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
	default:
		return
	}
	across := s.o.Breaks.Across(e)
	keep := s.o.Keep == nil || s.o.Keep(e)
	var r *row
	if e.Goid != 0 { // else it is not known whose row it is on
		r = s.rows.at(e.Goid, e.Start)
	}
	switch e.Kind {
	case format.KindWait:
		if keep {
			s.lock(e.Name).Waits.add(e.Dur, e.Open, across)
		}
		if r != nil {
			r.begin(e, nil)
		}
	case format.KindHold:
		if keep {
			l := s.lock(e.Name)
			l.Holds.add(e.Dur, e.Open, across)
			if r != nil && !across {
				r.hold(e, l)
			}
		}
	default:
		var st *Stats
		if keep {
			st = s.of(e)
			if !s.o.ByTrack || r == nil || r.outermost() {
				st.add(e, across)
			}
		}
		if across {
			st = nil
		}
		if r != nil {
			r.begin(e, st)
		}
	}
}

func (s *Summary) lock(name uint16) *Lock {
	l := s.locks[name]
	if l == nil {
		l = &Lock{Name: name}
		s.locks[name] = l
	}
	return l
}

func (s *Summary) of(e *trace.Event) *Stats {
	k := statsKey{e.Name, e.Kind == format.KindProcess}
	if s.o.ByTrack {
		k = statsKey{name: e.Track}
	}
	st := s.stats[k]
	if st == nil {
		st = &Stats{Name: k.name, Process: k.process}
		s.stats[k] = st
	}
	return st
}

// Finish completes the self times after the last event.
func (s *Summary) Finish() { s.rows.finish() }

// Stats lists the groups, in no order that means anything but always the same.
func (s *Summary) Stats() []*Stats {
	all := make([]*Stats, 0, len(s.stats))
	for _, st := range s.stats {
		all = append(all, st)
	}
	slices.SortFunc(all, func(a, b *Stats) int {
		if a.Name == b.Name && a.Process != b.Process {
			if a.Process {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all
}

// Locks lists the locks, the one that was waited for longest first.
func (s *Summary) Locks() []*Lock {
	all := make([]*Lock, 0, len(s.locks))
	for _, l := range s.locks {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Lock) int {
		return cmp.Or(
			cmp.Compare(b.Waits.Total+b.Waits.OpenTime, a.Waits.Total+a.Waits.OpenTime),
			cmp.Compare(b.Holds.Total+b.Holds.OpenTime, a.Holds.Total+a.Holds.OpenTime),
			cmp.Compare(a.Name, b.Name))
	})
	return all
}
