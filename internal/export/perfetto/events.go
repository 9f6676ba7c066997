package perfetto

import (
	"math"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// named sets the event's name and category.
func (s *writer) named(e *trace.Event) {
	for int(e.Name) >= len(s.defined) {
		s.defined = append(s.defined, false)
	}
	id := uint64(e.Name) + 1
	if !s.defined[e.Name] {
		s.defined[e.Name] = true
		s.interned = appendInterned(s.interned, internedNames, id, s.text(e.Name))
	}
	s.event = appendVarint(s.event, eventCategory, uint64(e.Kind))
	s.event = appendVarint(s.event, eventName, id)
}

// Row implements rows.Sink.
func (s *writer) Row(r *rows.Row, name string, rank int32) {
	if r.Mark == 0 {
		r.Mark = uint32(s.next)
		s.next++
	}
	d := newTrack(uint64(r.Mark), goroutinesTrack, name)
	s.track(appendInt(d, trackRank, int64(rank)))
}

// Scope implements rows.Sink.
func (s *writer) Scope(x *rows.Scope) {
	if l := x.Link; l != nil {
		s.flow(l, goCategory, goName, l.FromTime)
	}
	s.begin(sliceBegin, uint64(x.Row.Mark))
	s.named(x.Event)
	s.annotate(x.Args)
	if x.Link != nil {
		s.event = appendFixed64(s.event, eventTerminatedFlows, x.Link.ID)
	}
	s.emit(x.Start)
}

// flow begins a flow with an instant at a time.
func (s *writer) flow(l *rows.Link, category, name uint64, at int64) {
	s.begin(instant, uint64(l.From.Mark))
	s.event = appendVarint(s.event, eventCategory, category)
	s.event = appendVarint(s.event, eventName, name)
	s.event = appendFixed64(s.event, eventFlows, l.ID)
	s.emit(at)
}

// End implements rows.Sink. Whether a wait gets the lock that a hold releases is known only
// when the wait ends; 1 ns before its end the hold still encloses the instant.
func (s *writer) End(e *rows.End) {
	if e.In != nil {
		s.flow(e.In, lockCategory, lockName, e.In.FromTime-1)
	}
	s.begin(sliceEnd, uint64(e.Row.Mark))
	if e.In != nil {
		s.event = appendFixed64(s.event, eventTerminatedFlows, e.In.ID)
	}
	s.emit(e.Time)
}

// Handover implements rows.Sink: flows are written with the ends.
func (s *writer) Handover(*rows.Link) {}

// Instant implements rows.Sink.
func (s *writer) Instant(r *rows.Row, e *trace.Event, list []args.Arg) {
	s.begin(instant, uint64(r.Mark))
	s.named(e)
	s.annotate(list)
	s.emit(e.Start)
}

// State implements rows.Sink.
func (s *writer) State(x *rows.State) {
	s.begin(sliceBegin, uint64(x.Row.Mark))
	id := uint64(firstState) + uint64(x.State)
	if s.states == 0 {
		s.interned = appendInterned(s.interned, internedCategories, stateCategory, "state")
	}
	if s.states&(1<<x.State) == 0 {
		s.states |= 1 << x.State
		s.interned = appendInterned(s.interned, internedNames, id, x.State.String())
	}
	s.event = appendVarint(s.event, eventCategory, stateCategory)
	s.event = appendVarint(s.event, eventName, id)
	s.annotate(x.Args)
	s.emit(x.From)
	s.begin(sliceEnd, uint64(x.Row.Mark))
	s.emit(x.To)
}

// Counter implements rows.Sink.
func (s *writer) Counter(e *trace.Event, _ []args.Arg) {
	track, ok := s.counters[e.Name]
	if !ok {
		track = s.next
		s.next++
		s.counters[e.Name] = track
		d := newTrack(track, countersTrack, s.text(e.Name))
		d = appendVarint(d, trackRank, uint64(len(s.counters)))
		s.track(appendBytes(d, trackCounter, ""))
	}
	s.begin(counter, track)
	switch {
	case e.ValueType == format.SlotFloat:
		s.event = appendDouble(s.event, eventDoubleCounter, math.Float64frombits(e.Value))
	case e.ValueType == format.SlotUint && e.Value > math.MaxInt64:
		s.event = appendDouble(s.event, eventDoubleCounter, float64(e.Value))
	default:
		s.event = appendVarint(s.event, eventCounter, e.Value)
	}
	s.emit(e.Start)
}

// Gauge implements rows.Sink.
func (s *writer) Gauge(g *rows.Gauge, t int64, values []float64) {
	for i, v := range values {
		s.begin(counter, s.gauges[g][i])
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			s.event = appendInt(s.event, eventCounter, int64(v))
		} else {
			s.event = appendDouble(s.event, eventDoubleCounter, v)
		}
		s.emit(t)
	}
}
