package trace

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// CPUAt returns for how long a goroutine was on a CPU between two times, ns from the
// trace's start: Exact if it is known, Likely if it may be somewhat too long, AtMost if it
// was no longer than that, and else Unknown.
type CPUAt func(goid uint64, from, to int64) (ns int64, q format.Quality)

// EndOf returns when a goroutine ended, ns from the trace's start; ok is false where it did
// not, or where that is not known.
type EndOf func(goid uint64) (ns int64, ok bool)

// UseCPU has Events ask for the CPU times of scopes that the recorder could not tell
// exactly: load, which is called once and before the first event, makes what answers. The
// recorder's own times stay where they are Exact, and where they are Likely and the answer
// is not Exact. A bound of theirs stays where the answer is no lower one. A bound of theirs
// is also one for what is Likely.
//
// It is to be called before Events is, and is not for load's own use of Events: that has
// AsRecorded in its Options.
func (t *Trace) UseCPU(load func() (CPUAt, error)) {
	t.cpuTimes.mu.Lock()
	defer t.cpuTimes.mu.Unlock()
	t.cpuTimes.load = load
}

// WantsCPU reports whether Events has yet to call what UseCPU was given. Until then UseCPU
// may be given something else.
func (t *Trace) WantsCPU() bool {
	t.cpuTimes.mu.Lock()
	defer t.cpuTimes.mu.Unlock()
	return t.cpuTimes.load != nil
}

// UseEnds has Events end scopes that nobody ended with the goroutine that began them. They stay
// Open, and are Left. What UseCPU was given may call it.
func (t *Trace) UseEnds(of EndOf) { t.cpuTimes.endOf.Store(&of) }

// cpuTimes is what UseCPU was given, and what came of it.
type cpuTimes struct {
	mu   sync.Mutex
	load func() (CPUAt, error) // nil: it was called, or nobody gave one
	at   CPUAt
	err  error

	endOf atomic.Pointer[EndOf]
}

func (c *cpuTimes) ends() EndOf {
	if of := c.endOf.Load(); of != nil {
		return *of
	}
	return nil
}

func (c *cpuTimes) get() (CPUAt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if load := c.load; load != nil {
		c.load = nil
		c.at, c.err = load()
	}
	return c.at, c.err
}

// fillCPU asks for the CPU time of a scope that has ended.
func (p *player) fillCPU(e *Event, start, stop int64) {
	if e.Open || e.Quality == format.Exact || e.Goid == 0 || e.EndGoid != 0 || e.Dur <= 0 || e.Kind == format.KindProcess || e.Kind == format.KindPending {
		return
	}
	if e.Quality == format.Unknown && p.t.across(start, stop) {
		return // how long it took is not known
	}
	ns, q := p.r.cpuAt(e.Goid, e.Start, e.Start+e.Dur)
	ns = min(max(ns, 0), e.Dur)
	if q == format.Likely && e.Quality == format.AtMost {
		ns = min(ns, e.CPU)
	}
	if knowsMore(q, e.Quality, ns < e.CPU) {
		e.CPU, e.Quality = ns, q
	}
}

// knowsMore reports whether a CPU time of quality q says more than one of quality old.
func knowsMore(q, old format.Quality, lower bool) bool {
	switch q {
	case format.Exact:
		return true
	case format.Likely:
		return old != format.Likely
	case format.AtMost:
		return old == format.Unknown || old == format.AtMost && lower
	}
	return false
}
