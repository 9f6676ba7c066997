//go:build !scope_off

package gotrace

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime/metrics"
	"strconv"
	"time"
)

// What Go's execution trace costs the program, measured by two goroutines that hand each
// other a value two million times, on a processor whose clock is read in 10 ns: 17 bytes and
// 200 ns for a goroutine that runs again. A stack that is new in a second is written at its end,
// with the functions and lines of its frames, which take the most: 70 to 180 ns of a byte were
// measured with the Go tools' callgraph, the most where Go's collector had much to do.
const (
	perByte      = 12  // ns
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

const (
	// part is what of the recording's budget the execution trace may take.
	part = 1. / 3
	// switchPart is what the system's telling of thread switches may take of it, and switchLeast
	// what of one CPU however idle the program is.
	switchPart  = 1. / 6
	switchLeast = 1e-3
	// burst is what that may take at once, in ns.
	burst = 5e6
	// memory is for how long what was spent counts. What a second took is known at its end.
	memory = 2 * time.Second
	// least is what it may take of that however idle the program is.
	least = 5 * time.Millisecond
	// settled is how long it is looked at before it is given up. The tracer is asked then for what
	// it has, or what the stacks of the first second take would be known too late.
	settled = 150 * time.Millisecond
)

// account is what the execution trace takes of the recording's budget.
type account struct {
	since time.Time // when it was taken
	asked bool      // for what it has
	last  time.Time // of the looks
	seen  int64     // ns, as of then
	spent float64   // of late
	used  float64   // CPU time of the process, likewise
	owed  float64   // what it has taken more than it may, of all the recording
	tried float64   // what it took the last time that it was given up
}

// telling is what the system's telling of thread switches takes of it.
type telling struct {
	at   time.Time // of the last look
	seen int64     // ns, as of then
	owed float64   // what it has taken more than it may, lately
}

// begin is another execution trace's.
func (a *account) begin() {
	now := time.Now()
	*a = account{since: now, last: now, owed: a.owed, tried: a.tried}
}

// bears reports whether what was earned is enough for another try that ends as the last one did.
func (a *account) bears() bool { return a.owed+a.tried <= 0 }

// Afford is a collector's: see there.
func (c *collector) Afford(cpu time.Duration, share float64) time.Duration {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return 0
	}
	return c.affordSwitches(cpu, share) + c.affordTrace(cpu, share)
}

// affordSwitches has the system tell of thread switches while that takes no more than its part.
func (c *collector) affordSwitches(cpu time.Duration, share float64) time.Duration {
	if c.perf == nil {
		return 0
	}
	s := &c.switches
	at, spent := time.Now(), c.perf.Spent()
	earned := switchPart * share * float64(cpu)
	if !s.at.IsZero() {
		earned = max(earned, switchLeast*float64(at.Sub(s.at)))
	}
	took := spent - s.seen
	s.owed = max(s.owed+float64(took)-earned, -burst)
	s.at, s.seen = at, spent
	if s.owed > burst {
		c.perf.Pause(true)
	} else if s.owed <= 0 {
		c.perf.Pause(false)
	}
	return time.Duration(took)
}

func (c *collector) affordTrace(cpu time.Duration, share float64) time.Duration {
	a := &c.account
	a.owed -= part * share * float64(cpu)
	if c.trace == nil {
		return 0
	}
	at := time.Now()
	if at.Sub(a.since) > settled && !a.asked {
		a.asked = true
		c.trace.flush()
	}
	now := c.trace.spent()
	took := now - a.seen
	a.seen = now
	a.owed += float64(took)
	keep := math.Exp(-float64(at.Sub(a.last)) / float64(memory))
	a.last = at
	a.spent = a.spent*keep + float64(took)
	a.used = a.used*keep + float64(cpu)
	if a.asked && a.used > 0 && a.spent > max(part*share*a.used, float64(least)) {
		c.giveUp(a.spent / a.used)
	}
	return time.Duration(took)
}

// giveUp ends the execution trace, which takes so much of the CPU time, and has it be tried
// again later: each time that this was of no use, after twice as long. What that took itself is
// the caller's CPU time, which is measured.
func (c *collector) giveUp(took float64) {
	if err := c.trace.end(); err != nil {
		c.lose(err)
	}
	all := c.trace.spent()
	c.account.owed, c.account.tried = c.account.owed+float64(all-c.account.seen), float64(all)
	c.trace = nil
	why := "it took more than its share of the budget, " + strconv.FormatFloat(100*took, 'f', 1, 64) + "% of the CPU time"
	c.tell(factTrace, "off: "+why+"; it is tried again later")
	c.lose(errors.New(why))
	c.pause, c.wait = c.wait-1, min(2*c.wait, 64)
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
