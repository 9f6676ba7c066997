package analysis

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Stats tells of the scopes that share a name (or, by track, a row's name).
// All times are nanoseconds. Scopes that have not ended are counted in Open and
// OpenTime alone: how long they will take is not known.
type Stats struct {
	Name    uint16
	Process bool // scope.Process: CPU is the whole process's and may exceed the wall time

	Count    int64 // ended scopes
	Total    int64 // their durations
	Open     int64 // scopes begun and not ended
	OpenTime int64 // their durations up to the last moment that the trace knows
	Times    histogram
	Across   int64 // scopes during which the clock stepped: their times are unknown and in no sum

	// Self is the time that belonged to these scopes and to none inside them; a
	// lock's wait inside is not self. OpenSelf is that of scopes that have not ended,
	// by track also of what is inside those: Self is part of Total. NoSelf counts
	// scopes on an unknown goroutine, of which it cannot be told.
	Self     int64
	OpenSelf int64
	NoSelf   int64

	// CPU is the sum that is known (exact or likely), of CPUCount ended scopes of CPUWall
	// ns together; AtMost is the sum of upper bounds of others, of AtMostWall ns.
	CPU, CPUWall, CPUCount int64
	AtMost, AtMostWall     int64
}

// Mean is the mean duration of the ended scopes; 0 without any.
func (s *Stats) Mean() int64 {
	if s.Count == 0 {
		return 0
	}
	return s.Total / s.Count
}

// Coverage is the share of Total of which the CPU time is known; ok is false
// where there is no time at all.
func (s *Stats) Coverage() (share float64, ok bool) {
	if s.Total <= 0 {
		return 0, false
	}
	return float64(s.CPUWall) / float64(s.Total), true
}

// PerWall is CPU over the wall time of the scopes of which it is known; ok is
// false where it is known of none.
func (s *Stats) PerWall() (ratio float64, ok bool) {
	if s.CPUWall <= 0 {
		return 0, false
	}
	return float64(s.CPU) / float64(s.CPUWall), true
}

func (s *Stats) add(e *trace.Event, across bool) {
	if across {
		s.Across++
		return
	}
	if e.Goid == 0 {
		s.NoSelf++
	}
	if e.Open {
		s.Open++
		s.OpenTime += e.Dur
		return
	}
	s.Count++
	s.Total += e.Dur
	s.Times.add(e.Dur)
	if e.Kind == format.KindProcess && !s.Process {
		return // by track: the process's CPU time is not the row's
	}
	switch e.Quality {
	case format.Exact, format.Likely:
		s.CPU += e.CPU
		s.CPUWall += e.Dur
		s.CPUCount++
	case format.AtMost:
		s.AtMost += e.CPU
		s.AtMostWall += e.Dur
	}
}
