//go:build !scope_off

package gotrace

import (
	"encoding/binary"
	"errors"
	"runtime/metrics"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

// The estimated cost of Go's execution trace to the program. Two goroutines that hand each other a
// value two million times, on a processor that reads its clock in 10 ns, take 200 ns and 17 bytes
// per switch: 12 ns per byte, with everything in the first-level cache. Samples of esbuild's first
// runs showed 27 and 38 ns per byte, most of it for system calls and their stacks; perByte is
// between the two. A stack that is new in a second is written at the second's end, with the
// functions and lines of its frames, which dominate the cost: 70 to 180 ns per byte in the Go
// tools' callgraph, the most when the garbage collector was busy.
const (
	perByte      = 25  // ns
	perStackByte = 120 // ns
	perSwitch    = 200 // ns
)

// Batches of Go's execution trace (internal/trace/tracev2).
const (
	batchBegin  = 1
	batchStacks = 2 // first byte of a batch's contents
)

// ofStacks reports whether a batch holds stacks: its generation, thread, time and size precede its
// contents.
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

// perSample is the cost of one signal of the CPU profile, including its processing.
const perSample = 25000 // ns

// settled is the age at which a trace is first flushed; otherwise the cost of the
// first second's stacks would be known too late.
const settled = 50 * time.Millisecond

// parts holds the parts that the recording's governor may switch off; see collect.Part.
type parts struct {
	noTrace, noProfile bool          // the governor has switched it off
	trace, profile     time.Duration // the cost of those that have ended
}

// divided returns the collector's parts. Thread switches are missed the least; samples cost the
// least for the information they give.
func (c *collector) divided() []collect.Part {
	return []collect.Part{
		{Name: "thread switches", Most: 1. / 6, Spent: c.locked(c.spentSwitches), Switch: c.switchSwitches},
		{Name: "states", Most: 1. / 3, Spent: c.locked(c.spentTrace), Switch: c.switchTrace},
		{Name: "samples", Most: 1. / 4, Spent: c.locked(c.spentProfile), Switch: c.switchProfile},
	}
}

// locked returns spent as a function that holds shared.mu while it runs.
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

// switchTrace ends the execution trace because it takes too much CPU time, or starts it again. The
// cost of ending it is the caller's CPU time, which is measured.
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
	c.record(factTrace, "off: "+why)
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
	c.record(factProfile, "off: "+why)
}

// switches returns how often a goroutine has begun to run so far. Go counts one in eight.
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
