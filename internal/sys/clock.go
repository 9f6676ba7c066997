package sys

import "time"

// Clock reads the ticks of a recording.
type Clock struct {
	counter bool   // the processor's counter; else ns of the monotonic clock
	Reason  string // why it is not the counter; "" if it is
}

// NewClock chooses the processor's counter where it is invariant and the
// kernel itself keeps time by it, else the monotonic clock.
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

// Now is the time in ticks, never 0.
func (c Clock) Now() int64 {
	if c.counter {
		return tsc()
	}
	return Mono()
}

// StillTrusted asks the kernel again whether it keeps time by the counter. Where that
// can't be read any more (no descriptor is left, a sandbox), nothing says that it does not.
func (c Clock) StillTrusted() bool {
	if !c.counter {
		return true
	}
	why, known := counterTrusted()
	return why == "" || !known
}

// Reading is all clocks at one moment.
type Reading struct {
	Ticks, Mono, Wall, Bracket int64
}

// Read reads all clocks, the best of n tries: the one with the fewest ticks
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

// Rate is the number of ticks in a second, measured over d; its error is the
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

// epoch and monoBase are one moment by two clocks. The base makes Mono positive at
// any time in the process's life, and on Linux the value of CLOCK_MONOTONIC, which
// other tools' records can be aligned with.
var epoch, monoBase = bases()

// bases takes the best of some readings: who is taken off the CPU in the middle of
// one would be off by as long ever after.
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

// Mono is the monotonic clock in nanoseconds.
func Mono() int64 { return monoBase + int64(time.Since(epoch)) }

func monoWall() (mono, wall int64) {
	now := time.Now()
	return monoBase + int64(now.Sub(epoch)), now.UnixNano()
}
