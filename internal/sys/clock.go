package sys

import "time"

// Clock reads the ticks of a recording.
type Clock struct {
	counter bool   // the processor's counter, else ns of the monotonic clock
	Reason  string // why the counter is not used; "" if it is
}

// NewClock selects the processor's counter if it is invariant and the kernel keeps time by
// it, else the monotonic clock.
func NewClock() Clock {
	if !haveStubs {
		return Clock{Reason: "built without assembly"}
	}
	if !counterInvariant() {
		return Clock{Reason: "the processor's counter is not invariant"}
	}
	if s, _ := counterTrusted(); s != "" {
		return Clock{Reason: s}
	}
	if t := tsc(); t <= 0 || t >= 1<<59 {
		return Clock{Reason: "the processor's counter is near the end of the format's range"}
	}
	return Clock{counter: true}
}

// Counter reports whether ticks are those of the processor's counter.
func (c Clock) Counter() bool { return c.counter }

// Now returns the time in ticks, never 0.
func (c Clock) Now() int64 {
	if c.counter {
		return tsc()
	}
	return Mono()
}

// StillTrusted reports whether the kernel still keeps time by the counter. If that can't be
// read any more (no descriptor is left, a sandbox), it returns true.
func (c Clock) StillTrusted() bool {
	if !c.counter {
		return true
	}
	why, known := counterTrusted()
	return why == "" || !known
}

// Reading holds all clocks at one moment.
type Reading struct {
	Ticks, Mono, Wall, Bracket int64
}

// Read reads all clocks n times and returns the best reading: the one with the fewest ticks
// between the two readings of the counter around that of the monotonic clock.
func (c Clock) Read(n int) Reading {
	var best Reading
	for i := range n {
		t1 := c.Now()
		mono, wall := monoWall()
		t2 := c.Now()
		if !c.counter {
			t1, t2 = mono, mono
		}
		if b := t2 - t1; i == 0 || b < best.Bracket {
			best = Reading{t1 + b/2, mono, wall, b}
		}
	}
	return best
}

// Rate measures the ticks per second over d, or returns 0 if it can't; its error is the
// brackets' sum over d, some 10 ppm for 3 ms.
func (c Clock) Rate(d time.Duration) int64 {
	if !c.counter {
		return int64(time.Second)
	}
	a := c.Read(8)
	time.Sleep(d)
	b := c.Read(8)
	if b.Mono <= a.Mono || b.Ticks <= a.Ticks {
		return 0
	}
	return int64(float64(b.Ticks-a.Ticks) / float64(b.Mono-a.Mono) * 1e9)
}

// epoch and monoBase are the same moment on two clocks. The base makes Mono positive
// throughout the process's life and, on Linux, equal to CLOCK_MONOTONIC, with which other
// tools' records can be aligned.
var epoch, monoBase = bases()

// bases takes the best of several readings: a reading during which the thread was preempted
// would be wrong by that time for good.
func bases() (epoch time.Time, base int64) {
	best := int64(1 << 62)
	for range 20 {
		before := monotonic()
		now := time.Now()
		if took := monotonic() - before; took < best {
			epoch, base, best = now, before+took/2, took
		}
	}
	return epoch, base
}

// Mono returns the monotonic clock in nanoseconds.
func Mono() int64 { return monoBase + int64(time.Since(epoch)) }

func monoWall() (mono, wall int64) {
	now := time.Now()
	return monoBase + int64(now.Sub(epoch)), now.UnixNano()
}
