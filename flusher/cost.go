package flusher

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// Cost adds up the cost of the recorder's own goroutines.
type Cost struct {
	cpu     atomic.Int64
	unknown atomic.Int64
}

// Round runs f and adds the CPU time of its thread. If the goroutine was moved to
// another thread meanwhile, the CPU time is unknown, and the wall time is added to a
// separate sum.
//
// In a forked child, whose one thread may run goroutines that the parent started,
// Round does nothing: the files are the parent's, and the memory is not mapped.
func (c *Cost) Round(f func()) {
	if sys.Forked() {
		return
	}
	t0 := time.Now()
	cpu0, tid0, ok0 := sys.ThreadCPU()
	f()
	cpu1, tid1, ok1 := sys.ThreadCPU()
	if ok0 && ok1 && tid0 == tid1 && cpu1-cpu0 <= int64(time.Since(t0))+int64(time.Microsecond) {
		c.cpu.Add(cpu1 - cpu0)
		return
	}
	c.unknown.Add(int64(time.Since(t0)))
}

// CPU returns the CPU time measured so far, and the wall time of the rounds whose CPU
// time is unknown, in nanoseconds.
func (c *Cost) CPU() (cpu, unknown int64) { return c.cpu.Load(), c.unknown.Load() }
