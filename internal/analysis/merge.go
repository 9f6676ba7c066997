package analysis

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Part counts a part of a trace, read with Options.Running set. The results of parts are
// merged in order. also is called with each event.
func (s *Summary) Part(x *trace.Part, also func(*trace.Event)) {
	x.Running(s.resume)
	x.Events(func(e *trace.Event) bool {
		if e.Kind == format.KindTask { // the most frequent kind
			s.task(e)
		} else {
			s.Add(e)
		}
		also(e)
		return true
	})
	until, last := x.Until()
	s.rows.leave(until, last)
}

// resume adds a scope that continues from an earlier part, which has counted it.
func (s *Summary) resume(since int64, e *trace.Event) {
	if e.Goid == 0 {
		return
	}
	r := s.rows.resume(e.Goid, since)
	counts := s.keep(e) && !s.o.Breaks.Across(e)
	switch e.Kind {
	case format.KindWait:
		s.rows.nest(r, e, nil, e.Open)
	case format.KindHold:
		if counts {
			r.hold(e, s.locks.of(e.Name))
		}
	default:
		var st *Stats
		if counts {
			st = s.group(e)
		}
		s.rows.nest(r, e, st, s.open(r, e, e.Start))
	}
}

// Merge adds the counts of a later part, and resets o for another one.
func (s *Summary) Merge(o *Summary) {
	o.stats.each(func(name uint16, x *Stats) { s.stats.of(name).merge(x) })
	o.processes.each(func(name uint16, x *Stats) { s.processes.of(name).merge(x) })
	o.locks.each(func(name uint16, x *Lock) { s.locks.of(name).merge(x) })
	o.events.each(func(name uint16, x *Instants) { s.events.of(name).merge(x) })
	o.pendings.each(func(name uint16, x *Instants) { s.pendings.of(name).merge(x) })
	o.counters.each(func(name uint16, x *Counter) { s.counters.of(name).merge(x) })
	reset := func(x *Stats) {
		x.Times.reset()
		*x = Stats{Times: x.Times}
	}
	o.stats.reset(reset)
	o.processes.reset(reset)
	o.locks.reset(func(x *Lock) { *x = Lock{} })
	o.events.reset(func(x *Instants) { *x = Instants{} })
	o.pendings.reset(func(x *Instants) { *x = Instants{} })
	o.counters.reset(func(x *Counter) { *x = Counter{} })
}

func (s *Stats) merge(o *Stats) {
	s.Count += o.Count
	s.Total += o.Total
	s.Whole += o.Whole
	s.Cut += o.Cut
	s.Open += o.Open
	s.Left += o.Left
	s.OpenTime += o.OpenTime
	s.Times.merge(&o.Times)
	s.Across += o.Across
	s.Self += o.Self
	s.OpenSelf += o.OpenSelf
	s.NoSelf += o.NoSelf
	s.CPU += o.CPU
	s.CPUWall += o.CPUWall
	s.CPUCount += o.CPUCount
	s.AtMost += o.AtMost
	s.AtMostWall += o.AtMostWall
}

func (l *Lock) merge(o *Lock) {
	l.Waits.merge(&o.Waits)
	l.Holds.merge(&o.Holds)
	l.Since = l.Since || o.Since
	l.heldBy.merge(&o.heldBy)
}

func (p *Periods) merge(o *Periods) {
	p.Count += o.Count
	p.Total += o.Total
	p.Max = max(p.Max, o.Max)
	p.Open += o.Open
	p.OpenTime += o.OpenTime
	p.Across += o.Across
}

func (i *Instants) merge(o *Instants) {
	if i.Count == 0 {
		i.First = o.First
	}
	if o.Count > 0 {
		i.Last = o.Last
	}
	i.Count += o.Count
	i.Announced += o.Announced
}

func (c *Counter) merge(o *Counter) {
	if c.Count == 0 {
		c.Min, c.Max = o.Min, o.Max
	}
	c.Count += o.Count
	c.Min, c.Max, c.Last = min(c.Min, o.Min), max(c.Max, o.Max), o.Last
}

// Merge adds the counts of a later part, and resets o for another one.
func (c *Census) Merge(o *Census) {
	for k := range c.Kinds {
		c.Kinds[k] += o.Kinds[k]
		c.Open[k] += o.Open[k]
		c.Left[k] += o.Left[k]
	}
	for q := range c.CPU {
		c.CPU[q] += o.CPU[q]
	}
	c.Endings.Merge(&o.Endings)
	*o = Census{Endings: o.Endings}
}

// Merge adds the counts of a later part, and resets o for another one.
func (c *Endings) Merge(o *Endings) {
	c.room(len(o.names))
	for i := range o.names {
		x, y := &c.names[i], &o.names[i]
		x.open, x.ended = x.open+y.open, x.ended+y.ended
		if x.first == 0 || y.first != 0 && y.at < x.at {
			x.first, x.at, x.linked = y.first, y.at, y.linked
		}
	}
	clear(o.names)
}
