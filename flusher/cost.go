package flusher

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// Cost adds up what the recorder's own goroutines cost.
type Cost struct {
	cpu     atomic.Int64
	unknown atomic.Int64
}

// Round runs f and adds the CPU time of its thread. Where the goroutine was
// moved to another thread meanwhile, the CPU time is not known: the wall time
// goes to a sum of its own.
//
// In a forked child, whose one thread runs goroutines of ours that the parent had, it
// does nothing: the files are the parent's, and its memory is not there.
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

// CPU is the CPU time measured so far, and the wall time of the rounds whose
// CPU time is unknown, in nanoseconds.
func (c *Cost) CPU() (cpu, unknown int64) { return c.cpu.Load(), c.unknown.Load() }
