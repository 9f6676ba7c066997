package trace

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// CPUAt returns how long a goroutine was on a CPU between two times, ns from the trace's start:
// Exact if it is known, Likely if it may be somewhat too long, AtMost if it is an upper bound, else
// Unknown.
type CPUAt func(goid uint64, from, to int64) (ns int64, q format.Quality)

// EndOf returns when a goroutine ended, ns from the trace's start; ok is false if it did not, or if
// that is not known.
type EndOf func(goid uint64) (ns int64, ok bool)

// UseCPU makes Events use the CPUAt that load returns for scopes whose CPU time the recorder could
// not determine exactly; load is called once, before the first event. The recorder's own times stay
// if they are Exact, or if they are Likely and the result is not Exact. The recorder's upper bound
// stays unless the result is a lower one. It also bounds a Likely result.
//
// It must be called before Events. load itself may call Events with AsRecorded in its Options.
func (t *Trace) UseCPU(load func() (CPUAt, error)) {
	t.cpuTimes.mu.Lock()
	defer t.cpuTimes.mu.Unlock()
	t.cpuTimes.load = load
}

// WantsCPU reports whether Events has yet to call UseCPU's load. Until then UseCPU may be called
// with another one.
func (t *Trace) WantsCPU() bool {
	t.cpuTimes.mu.Lock()
	defer t.cpuTimes.mu.Unlock()
	return t.cpuTimes.load != nil
}

// UseEnds makes Events end scopes without an end when the goroutine that began them ended. They
// stay Open, and are Left. UseCPU's load may call it.
func (t *Trace) UseEnds(of EndOf) { t.cpuTimes.endOf.Store(&of) }

// cpuTimes holds UseCPU's load, and its results.
type cpuTimes struct {
	mu   sync.Mutex
	load func() (CPUAt, error) // nil: it was called, or there is none
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
