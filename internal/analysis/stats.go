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
	Total    int64 // their durations, or what of them lies in the range (SummaryOptions.Clip)
	Whole    int64 // their durations
	Cut      int64 // those that Total has not whole
	Open     int64 // scopes begun and not ended
	Left     int64 // those of them whose goroutine has ended
	OpenTime int64 // their durations up to the last moment that the trace, or their goroutine, knows
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
	// ns together; AtMost is the sum of upper bounds of others, of AtMostWall ns. Of those
	// that are cut it is as much as lies in the range of their time.
	CPU, CPUWall, CPUCount int64
	AtMost, AtMostWall     int64
}

// Mean is the mean duration of the ended scopes; 0 without any.
func (s *Stats) Mean() int64 {
	if s.Count == 0 {
		return 0
	}
	return s.Whole / s.Count
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

// add counts a scope of whose duration so much counts.
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

// share is as much of v as counts of a duration.
func share(v, counted, dur int64) int64 {
	if counted >= dur {
		return v
	}
	return int64(float64(v) * float64(counted) / float64(dur))
}
