package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// SummaryOptions say what a Summary counts.
type SummaryOptions struct {
	// ByTrack groups by the name of the row. As a scope's time holds that of the
	// scopes in it, only those count that lie in no other; Self and OpenSelf are all
	// that its goroutines spent in scopes.
	ByTrack bool
	// Keep says which events count; nil: all. The others still have their part in
	// whose moment it is.
	Keep func(*trace.Event) bool
	// Breaks are the trace's; what lies across one is in no sum.
	Breaks Breaks
	// From and To bound what counts as self time and as holding: outside, the
	// events that touch the range do not tell the whole. To 0: no bound.
	From, To int64
	// Clip has all sums be of what lies in From to To. Extremes, quantiles and means are
	// of whole scopes all the same: cut at the range's ends they would tell of the range.
	Clip bool
}

// Summary gathers what `scopeview top` shows.
type Summary struct {
	Stats    []*Stats    // by name id
	Locks    []*Lock     // the one that was waited for longest first
	Instants []*Instants // events and pending events, the most frequent first
	Counters []*Counter  // by name id

	o     SummaryOptions
	stats map[statsKey]*Stats
	locks map[uint16]*Lock
	rows  rows

	instants map[instantKey]*Instants
	counters map[uint16]*Counter
}

type statsKey struct {
	name    uint16
	process bool
}

type instantKey struct {
	name uint16
	kind format.Kind
}

// NewSummary returns an empty Summary.
func NewSummary(o SummaryOptions) *Summary {
	if o.To <= 0 {
		o.To = math.MaxInt64
	}
	s := &Summary{
		o: o, stats: make(map[statsKey]*Stats), locks: make(map[uint16]*Lock),
		instants: make(map[instantKey]*Instants), counters: make(map[uint16]*Counter),
	}
	s.rows.charge = func(r *running, from, to int64) {
		switch d := s.within(from, to); {
		case r.stats == nil:
		case r.open:
			r.stats.OpenSelf += d
		default:
			r.stats.Self += d
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

// counted is how much of an event's duration counts.
func (s *Summary) counted(e *trace.Event) int64 {
	if !s.o.Clip {
		return e.Dur
	}
	return s.within(e.Start, e.Start+e.Dur)
}

// Add counts one event. Events come in the reader's order.
func (s *Summary) Add(e *trace.Event) {
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
		s.scope(e)
	case format.KindEvent, format.KindPending:
		if s.keep(e) {
			of(s.instants, instantKey{e.Name, e.Kind}, nameInstants).add(e)
		}
	case format.KindCounter:
		if s.keep(e) {
			of(s.counters, e.Name, nameCounter).add(e)
		}
	}
}

func (s *Summary) keep(e *trace.Event) bool { return s.o.Keep == nil || s.o.Keep(e) }

// of is the entry of a key; if there is none, name makes one.
func of[K comparable, V any](m map[K]*V, key K, name func(K, *V)) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		name(key, v)
		m[key] = v
	}
	return v
}

func nameLock(name uint16, l *Lock)          { l.Name = name }
func nameCounter(name uint16, c *Counter)    { c.Name = name }
func nameInstants(k instantKey, i *Instants) { i.Name, i.Kind = k.name, k.kind }
func nameStats(k statsKey, s *Stats)         { s.Name, s.Process = k.name, k.process }

func (s *Summary) scope(e *trace.Event) {
	across := s.o.Breaks.Across(e)
	keep := s.keep(e)
	var r *row
	if e.Goid != 0 { // else it is not known whose row it is on
		r = s.rows.at(e.Goid, e.Start)
	}
	switch e.Kind {
	case format.KindWait:
		if keep && !calledOff(e) {
			of(s.locks, e.Name, nameLock).Waits.add(e.Dur, s.counted(e), e.Open, across)
		}
		if r != nil {
			r.begin(e, nil)
		}
	case format.KindHold:
		if keep {
			l := of(s.locks, e.Name, nameLock)
			l.Holds.add(e.Dur, s.counted(e), e.Open, across)
			args := lockOf(e.Args)
			l.Since = l.Since || args.since
			if r != nil && !across {
				r.hold(e, l)
			}
		}
	default:
		s.task(e, r, keep, across)
	}
}

// task takes in a scope that is not a lock's.
func (s *Summary) task(e *trace.Event, r *row, keep, across bool) {
	var st *Stats
	if keep {
		st = s.group(e)
		if !s.o.ByTrack || r == nil || r.outermost() {
			st.add(e, across, s.counted(e))
		}
	}
	if across {
		st = nil
	}
	if r != nil {
		inOpen := s.o.ByTrack && r.inOpen()
		r.begin(e, st)
		if inOpen {
			r.stack[len(r.stack)-1].open = true
		}
	}
}

func (s *Summary) group(e *trace.Event) *Stats {
	k := statsKey{e.Name, e.Kind == format.KindProcess}
	if s.o.ByTrack {
		k = statsKey{name: e.Track}
	}
	return of(s.stats, k, nameStats)
}

// Finish is called after the last event: it completes the self times and fills in the lists.
func (s *Summary) Finish() {
	s.rows.finish()
	s.Stats = list(s.stats, func(a, b *Stats) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(btoi(a.Process), btoi(b.Process)))
	})
	s.Locks = list(s.locks, func(a, b *Lock) int {
		return cmp.Or(
			cmp.Compare(b.Waits.Total+b.Waits.OpenTime, a.Waits.Total+a.Waits.OpenTime),
			cmp.Compare(b.Holds.Total+b.Holds.OpenTime, a.Holds.Total+a.Holds.OpenTime),
			cmp.Compare(a.Name, b.Name))
	})
	s.Instants = list(s.instants, func(a, b *Instants) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	s.Counters = list(s.counters, func(a, b *Counter) int { return cmp.Compare(a.Name, b.Name) })
}

func list[K comparable, V any](m map[K]*V, compare func(a, b *V) int) []*V {
	return slices.SortedFunc(maps.Values(m), compare)
}
