//go:build !scope_off

package gotrace

import (
	"encoding/binary"
	"errors"
	"runtime/metrics"
	"strconv"
	"time"
)

// What Go's execution trace costs the program, measured by two goroutines that hand each
// other a value two million times, on a processor whose clock is read in 10 ns: 17 bytes and
// 200 ns for a goroutine that runs again. A stack that is new in a second is written at its end,
// with the functions and lines of its frames, which take the most: measured with a compiler.
const (
	perByte      = 12  // ns
	perStackByte = 70  // ns
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

const (
	// part is what of the recording's budget the execution trace may take.
	part = 0.6
	// slowly is how much of what is new an average takes in.
	slowly = 0.3
	// settled is how long it is looked at before it is given up.
	settled = 200 * time.Millisecond
)

// account is what the execution trace takes of the recording's budget.
type account struct {
	since time.Time // when it was taken
	seen  int64     // ns, as of the last look
	spent float64   // per look, smoothed
	used  float64   // CPU time of the process, likewise
}

// Afford is a collector's: see there.
func (c *collector) Afford(cpu time.Duration, share float64) time.Duration {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c || c.trace == nil {
		return 0
	}
	a, now := &c.account, c.trace.spent()
	took := now - a.seen
	a.seen = now
	a.spent += slowly * (float64(took) - a.spent)
	a.used += slowly * (float64(cpu) - a.used)
	if a.used > 0 && a.spent > part*share*a.used && time.Since(a.since) > settled {
		took += c.giveUp(a.spent / a.used)
	}
	return time.Duration(took)
}

// giveUp ends the execution trace, which takes so much of the CPU time, and has it be tried
// again later: each time that this was of no use, after twice as long. It returns what that
// took beyond what was told.
func (c *collector) giveUp(took float64) int64 {
	if err := c.trace.end(); err != nil {
		c.lose(err)
	}
	rest := c.trace.spent() - c.account.seen
	c.trace = nil
	why := "it took more than its share of the budget, " + strconv.FormatFloat(100*took, 'f', 1, 64) + "% of the CPU time"
	c.tell(factTrace, "off: "+why+"; it is tried again later")
	c.lose(errors.New(why))
	c.pause, c.wait = c.wait-1, min(2*c.wait, 64)
	return max(rest, 0)
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
