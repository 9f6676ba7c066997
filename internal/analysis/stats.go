package analysis

import (
	"math"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Stats has the statistics of the scopes that share a name (or, by track, a row's name). All
// times are ns. Scopes that have not ended count only in Open and OpenTime, as their
// duration is not known.
type Stats struct {
	Name    uint16
	Process bool // scope.Process: CPU is the whole process's and may exceed the wall time

	Count    int64 // ended scopes
	Total    int64 // their durations, or the parts in the range (SummaryOptions.Clip)
	Whole    int64 // their durations
	Cut      int64 // scopes whose duration Total has only in part
	Open     int64 // scopes begun and not ended
	Left     int64 // of Open: whose goroutine has ended
	OpenTime int64 // their durations up to the last known moment of the trace, or of their goroutine
	Times    histogram
	Across   int64 // scopes during which the clock stepped: their times are unknown and in no sum

	// Self is the time that belonged to these scopes and to none inside them; a lock's wait
	// inside is not self. OpenSelf is that of scopes that have not ended, by track also of
	// scopes inside those: Self is part of Total. NoSelf counts scopes on an unknown
	// goroutine, for which it can't be computed.
	Self     int64
	OpenSelf int64
	NoSelf   int64

	// CPU is the sum of the known CPU times (exact or likely), of CPUCount ended scopes of
	// CPUWall ns together; AtMost is the sum of upper bounds of others, of AtMostWall ns. Of
	// scopes that are cut it has a part in proportion to their time in the range.
	CPU, CPUWall, CPUCount int64
	AtMost, AtMostWall     int64
}

// Mean returns the mean duration of the ended scopes; 0 without any.
func (s *Stats) Mean() int64 {
	if s.Count == 0 {
		return 0
	}
	return s.Whole / s.Count
}

// Coverage returns the share of Total with known CPU time; ok is false if Total is 0.
func (s *Stats) Coverage() (share float64, ok bool) {
	if s.Total <= 0 {
		return 0, false
	}
	return float64(s.CPUWall) / float64(s.Total), true
}

// PerWall returns CPU over the wall time of the scopes with known CPU time; ok is false if
// there are none.
func (s *Stats) PerWall() (ratio float64, ok bool) {
	if s.CPUWall <= 0 {
		return 0, false
	}
	return float64(s.CPU) / float64(s.CPUWall), true
}

// add counts a scope, of whose duration counted ns are in Total.
func (s *Stats) add(e *trace.Event, across bool, counted int64) {
	if across {
		s.Across++
		return
	}
	if e.Goid == 0 {
		s.NoSelf++
	}
	if e.Open {
		s.Open++
		if e.Left {
			s.Left++
		}
		s.OpenTime += e.Dur
		return
	}
	s.Count++
	s.Total += counted
	s.Whole += e.Dur
	if counted < e.Dur {
		s.Cut++
	}
	s.Times.add(e.Dur)
	if e.Kind == format.KindProcess && !s.Process {
		return // by track: the process's CPU time is not the row's
	}
	switch e.Quality {
	case format.Exact, format.Likely:
		s.CPU += share(e.CPU, counted, e.Dur)
		s.CPUWall += counted
		s.CPUCount++
	case format.AtMost:
		s.AtMost += share(e.CPU, counted, e.Dur)
		s.AtMostWall += counted
	}
}

// share returns the part of v that corresponds to counted of dur.
func share(v, counted, dur int64) int64 {
	if counted >= dur {
		return v
	}
	return int64(float64(v) * float64(counted) / float64(dur))
}

// Instants are the events, or the pending events, that share a name.
type Instants struct {
	Name        uint16
	Kind        format.Kind // KindEvent, KindPending
	Count       int64
	Announced   int64 // pending ones that have not happened
	First, Last int64 // ns; of those that happened
}

func (i *Instants) add(e *trace.Event) {
	if e.Open {
		i.Announced++
		return
	}
	if i.Count == 0 {
		i.First = e.Start
	}
	i.Count++
	i.Last = e.Start
}

// Counter has the statistics of a counter's values.
type Counter struct {
	Name           uint16
	Count          int64
	Min, Max, Last float64
}

func (c *Counter) add(e *trace.Event) {
	v := counterValue(e)
	if c.Count == 0 {
		c.Min, c.Max = v, v
	}
	c.Count++
	c.Min, c.Max, c.Last = min(c.Min, v), max(c.Max, v), v
}

// counterValue converts a counter's bits according to its type.
func counterValue(e *trace.Event) float64 {
	switch e.ValueType {
	case format.SlotInt:
		return float64(int64(e.Value))
	case format.SlotFloat:
		return math.Float64frombits(e.Value)
	}
	return float64(e.Value)
}

// Breaks are a trace's clock steps, by time; none overlap. The duration of anything that
// lies across one is unknown.
type Breaks []trace.Break

// Across reports whether the clock stepped while e lasted.
func (bs Breaks) Across(e *trace.Event) bool {
	end := e.Start + e.Dur
	n := sort.Search(len(bs), func(i int) bool { return bs[i].From >= end })
	return n > 0 && e.Start < bs[n-1].To
}
