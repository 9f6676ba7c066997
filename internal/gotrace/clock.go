package gotrace

import (
	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/trace"
)

// clock converts the times of a stream to ns from the trace's start.
//
// The monotonic clock of an execution trace is the one that Go reads. On Linux that is the system's
// monotonic clock, which the trace's header has too. On other systems only the wall clocks can be
// compared. This is done once a stream, so that a later step of the wall clock has no effect; times
// there are off by the time between the two readings, some microseconds.
type clock struct {
	mono, wall int64 // at the trace's start
	same       bool  // the monotonic clocks are the same
	alone      bool  // no trace: time 0 is the stream's beginning
	base       int64 // ns from the trace's start when the stream's monotonic clock was 0
	made       bool  // the trace was made from the stream
	began      bool
	off        int64 // added to each time
}

// clockOf returns the clock for the streams of t, before any of them begins.
func clockOf(t *trace.Trace) clock {
	h, same, made := t.Header(), SameClock(t), t.Lookup(FactMade) != ""
	return clock{mono: h.StartMono, wall: h.StartWall, same: same, made: made}
}

// SameClock reports whether the monotonic clock of the Go execution traces of t is that of t's header.
func SameClock(t *trace.Trace) bool { return t.Lookup("os") == "linux" || t.Lookup(FactMade) != "" }

// sync aligns the clock with the clock snapshot at the beginning of a generation.
func (c *clock) sync(s *exptrace.ClockSnapshot) {
	at, mono := sane(int64(s.Trace)), sane(int64(min(s.Mono, far)))
	if !c.began {
		c.began = true
		if c.alone {
			c.mono = mono
		}
		c.base = -sane(c.mono)
		if !c.same {
			c.base = sane(saneWall(s.Wall.UnixNano())-saneWall(c.wall)) - mono
		}
	}
	c.off = c.base - (&gowire.Snapshot{Known: true, Trace: at, Mono: mono}).Ahead()
}

// first aligns the clock with the beginning of a stream that has no clock snapshot.
func (c *clock) first(at int64) {
	if !c.began {
		c.began = true
		if c.alone {
			c.mono = sane(at)
		}
		c.off = -sane(c.mono)
	}
}

// far limits the times that are read, so that their sums fit an int64.
const far = 1 << 60

func sane(t int64) int64 { return min(max(t, -far), far) }

// saneWall is sane for ns since 1970, where far is a time in 2006.
func saneWall(t int64) int64 { return min(max(t, -2*far), 2*far) }
