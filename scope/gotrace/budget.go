//go:build !scope_off

package gotrace

import (
	"encoding/binary"
	"errors"
	"runtime/metrics"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

// What Go's execution trace costs the program. Two goroutines that hand each other a value two million
// times, on a processor whose clock is read in 10 ns, make 17 bytes and take 200 ns for one that runs
// again: 12 ns of a byte, with all that is needed in the first cache. Samples of esbuild's first runs had 27
// and 38 ns of a byte, most of it for system calls and their stacks: a byte is between. A stack that is new in a second is written at its end,
// with the functions and lines of its frames, which take the most: 70 to 180 ns of a byte were
// measured with the Go tools' callgraph, the most where Go's collector had much to do.
const (
	perByte      = 25  // ns
	perStackByte = 120 // ns
	perSwitch    = 200 // ns
)

// Batches of Go's execution trace (internal/trace/tracev2).
const (
	batchBegin  = 1
	batchStacks = 2 // is the first byte of what is in one
)

// ofStacks reports whether a batch is of stacks: it has its generation, its thread, its time and its
// size before what is in it.
func ofStacks(batch []byte) bool {
	if len(batch) == 0 || batch[0] != batchBegin {
		return false
	}
	batch = batch[1:]
	for range 4 {
		_, n := binary.Uvarint(batch)
		if n <= 0 {
			return false
		}
		batch = batch[n:]
	}
	return len(batch) > 0 && batch[0] == batchStacks
}

// perSample is what a signal of the CPU profile takes, and what is made of it.
const perSample = 25000 // ns

// settled is how long a trace runs until the tracer is asked for what it has, or what the
// stacks of its first second take would be known too late.
const settled = 50 * time.Millisecond

// parts are what the recording's governor may switch off, as collect.Part has it.
type parts struct {
	noTrace, noProfile bool          // the governor has switched it off
	trace, profile     time.Duration // what those that are over have cost
}

// divided returns the collector's parts. What threads did is missed the least, and samples cost the
// least for what they tell.
func (c *collector) divided() []collect.Part {
	return []collect.Part{
		{Name: "thread switches", Most: 1. / 6, Spent: c.locked(c.spentSwitches), Switch: c.switchSwitches},
		{Name: "states", Most: 1. / 3, Spent: c.locked(c.spentTrace), Switch: c.switchTrace},
		{Name: "samples", Most: 1. / 4, Spent: c.locked(c.spentProfile), Switch: c.switchProfile},
	}
}

// locked calls a collector's method while nothing else does.
func (c *collector) locked(spent func() (int64, bool)) func() (int64, bool) {
	return func() (int64, bool) {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		return spent()
	}
}

func (c *collector) spentSwitches() (int64, bool) {
	if c.perf == nil {
		return 0, false
	}
	return c.perf.Spent(), !c.perf.Paused()
}

func (c *collector) switchSwitches(on bool, _ string) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if c.perf != nil {
		c.perf.Pause(!on)
	}
}

func (c *collector) spentTrace() (int64, bool) {
	if c.trace == nil {
		return int64(c.parts.trace), false
	}
	return int64(c.parts.trace) + c.trace.spent(), true
}

// switchTrace ends the execution trace, which takes so much of the CPU time, or takes it again.
// What ending takes itself is the caller's CPU time, which is measured.
func (c *collector) switchTrace(on bool, why string) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	c.parts.noTrace = !on
	if on {
		c.take()
		return
	}
	c.endTrace()
	c.tell(factTrace, "off: "+why)
	c.lose(errors.New(why))
}

func (c *collector) spentProfile() (int64, bool) {
	return int64(c.parts.profile + c.profile.spent()), c.profile != nil
}

func (c *collector) switchProfile(on bool, why string) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	c.parts.noProfile = !on
	if on {
		c.take()
		return
	}
	c.endProfile()
	c.tell(factProfile, "off: "+why)
}

// switches is how often a goroutine began to run so far. Go counts each eighth.
func switches() int64 {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	n := uint64(0)
	for _, c := range s[0].Value.Float64Histogram().Counts {
		n += c
	}
	return int64(8 * n)
}
