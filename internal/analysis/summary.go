package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// SummaryOptions select what a Summary counts.
type SummaryOptions struct {
	// ByTrack groups by the name of the row. As a scope's time includes that of the scopes in
	// it, only outermost ones count; Self and OpenSelf are all the time that its goroutines
	// spent in scopes.
	ByTrack bool
	// Keep reports whether an event counts; nil: all do. The others still take their moments
	// from the scopes around them.
	Keep func(*trace.Event) bool
	// Breaks are the trace's clock steps; an event across one is in no sum.
	Breaks Breaks
	// From and To bound the self time and the hold time: outside, only events that touch the
	// range are read. To 0: no bound.
	From, To int64
	// Clip limits all sums to the time from From to To. Extremes, quantiles and means are of
	// whole scopes all the same: cut at the range's ends they would describe the range.
	Clip bool
}

// Summary computes the tables of `scopeview top`.
type Summary struct {
	Stats    []*Stats    // by name id
	Locks    []*Lock     // longest waits first
	Instants []*Instants // events and pending events, most frequent first
	Counters []*Counter  // by name id

	o    SummaryOptions
	rows rows

	// By name; a process's scopes, and pending events, have their own tables.
	stats, processes table[Stats]
	locks            table[Lock]
	events, pendings table[Instants]
	counters         table[Counter]
}

// NewSummary returns an empty Summary.
func NewSummary(o SummaryOptions) *Summary {
	if o.To <= 0 {
		o.To = math.MaxInt64
	}
	s := &Summary{o: o}
	s.rows.from, s.rows.to = o.From, o.To
	s.rows.held = func(l *Lock, by *running, from, to int64) {
		if d := s.rows.within(from, to); d > 0 {
			l.held(by, d)
		}
	}
	return s
}

// counted returns the part of an event's duration that counts.
func (s *Summary) counted(e *trace.Event) int64 {
	if !s.o.Clip {
		return e.Dur
	}
	return s.rows.within(e.Start, e.Start+e.Dur)
}

// Add counts one event. Events come in the reader's order.
func (s *Summary) Add(e *trace.Event) {
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess:
		s.task(e)
	case format.KindWait, format.KindHold:
		s.lock(e)
	case format.KindEvent, format.KindPending:
		if s.keep(e) {
			s.instants(e.Kind).of(e.Name).add(e)
		}
	case format.KindCounter:
		if s.keep(e) {
			s.counters.of(e.Name).add(e)
		}
	}
}

func (s *Summary) keep(e *trace.Event) bool { return s.o.Keep == nil || s.o.Keep(e) }

func (s *Summary) instants(k format.Kind) *table[Instants] {
	if k == format.KindPending {
		return &s.pendings
	}
	return &s.events
}

// lock adds a wait or a hold.
func (s *Summary) lock(e *trace.Event) {
	across, keep := s.o.Breaks.Across(e), s.keep(e)
	var r *row
	if e.Goid != 0 { // otherwise its row is not known
		r = s.rows.at(e.Goid, e.Start)
	}
	switch e.Kind {
	case format.KindWait:
		if keep && !e.CalledOff() {
			s.locks.of(e.Name).Waits.add(e.Dur, s.counted(e), e.Open, across)
		}
		if r != nil {
			s.rows.begin(r, e, nil, e.Open)
		}
	case format.KindHold:
		if keep {
			l := s.locks.of(e.Name)
			l.Holds.add(e.Dur, s.counted(e), e.Open, across)
			args := lockOf(e.Args)
			l.Since = l.Since || args.since
			if r != nil && !across {
				r.hold(e, l)
			}
		}
	}
}

// task adds a scope that is not a lock's.
func (s *Summary) task(e *trace.Event) {
	across := len(s.o.Breaks) > 0 && s.o.Breaks.Across(e)
	var r *row
	if e.Goid != 0 {
		r = s.rows.at(e.Goid, e.Start)
	}
	var st *Stats
	if s.keep(e) {
		if st = s.stats.get(e.Name); st == nil || s.o.ByTrack || e.Kind == format.KindProcess {
			st = s.group(e)
		}
		if !s.o.ByTrack || r == nil || r.outermost() {
			st.add(e, across, s.counted(e))
		}
	}
	if across {
		st = nil
	}
	if r != nil {
		s.rows.begin(r, e, st, s.open(r, e, r.cursor))
	}
}

// open reports whether a scope that begins at now on a row counts as not ended. By track,
// one inside an open scope does, too.
func (s *Summary) open(r *row, e *trace.Event, now int64) bool {
	return e.Open || s.o.ByTrack && r.open > now
}

func (s *Summary) group(e *trace.Event) *Stats {
	switch {
	case s.o.ByTrack:
		return s.stats.of(e.Track)
	case e.Kind == format.KindProcess:
		st := s.processes.of(e.Name)
		st.Process = true
		return st
	}
	return s.stats.of(e.Name)
}

// Finish is called after the last event: it completes the self times and sets the lists.
func (s *Summary) Finish() {
	s.rows.finish()
	s.Stats, s.Locks, s.Instants, s.Counters = nil, nil, nil, nil
	s.stats.each(func(name uint16, x *Stats) { x.Name = name; s.Stats = append(s.Stats, x) })
	s.processes.each(func(name uint16, x *Stats) { x.Name, x.Process = name, true; s.Stats = append(s.Stats, x) })
	s.locks.each(func(name uint16, x *Lock) { x.Name = name; s.Locks = append(s.Locks, x) })
	s.events.each(func(name uint16, x *Instants) {
		x.Name, x.Kind = name, format.KindEvent
		s.Instants = append(s.Instants, x)
	})
	s.pendings.each(func(name uint16, x *Instants) {
		x.Name, x.Kind = name, format.KindPending
		s.Instants = append(s.Instants, x)
	})
	s.counters.each(func(name uint16, x *Counter) { x.Name = name; s.Counters = append(s.Counters, x) })
	slices.SortFunc(s.Stats, func(a, b *Stats) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(btoi(a.Process), btoi(b.Process)))
	})
	slices.SortFunc(s.Locks, func(a, b *Lock) int {
		return cmp.Or(
			cmp.Compare(b.Waits.Total+b.Waits.OpenTime, a.Waits.Total+a.Waits.OpenTime),
			cmp.Compare(b.Holds.Total+b.Holds.OpenTime, a.Holds.Total+a.Holds.OpenTime),
			cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(s.Instants, func(a, b *Instants) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortFunc(s.Counters, func(a, b *Counter) int { return cmp.Compare(a.Name, b.Name) })
}
