package gotrace

import (
	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/trace"
)

// clock turns the times of a stream into ns from the trace's start.
//
// The monotonic clock of an execution trace is the one that Go reads. On Linux that is
// the system's, and so is what the trace's header has. On other systems only the wall
// clocks can be compared, which is done once in a stream, so that a step of it later
// does no harm: times there are as far off as the clocks were read apart, some
// microseconds.
type clock struct {
	mono, wall int64 // at the trace's start
	same       bool  // the monotonic clocks are the same
	alone      bool  // there is no trace: time 0 is the stream's beginning
	base       int64 // ns from the trace's start when the stream's monotonic clock was 0
	made       bool  // the trace was made of the stream
	began      bool
	off        int64 // what is added to a time
}

// clockOf returns the clock of the streams of t, before any of them begins.
func clockOf(t *trace.Trace) clock {
	h, same, made := t.Header(), SameClock(t), t.Lookup(FactMade) != ""
	return clock{mono: h.StartMono, wall: h.StartWall, same: same, made: made}
}

// SameClock reports whether the monotonic clock of the Go execution traces of t is that of t's header.
func SameClock(t *trace.Trace) bool { return t.Lookup("os") == "linux" || t.Lookup(FactMade) != "" }

// sync takes the clocks that begin a generation.
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

// first takes the time at which a stream begins that does not tell what the clocks were.
func (c *clock) first(at int64) {
	if !c.began {
		c.began = true
		if c.alone {
			c.mono = sane(at)
		}
		c.off = -sane(c.mono)
	}
}

// far bounds what is read, so that sums of it fit an int64.
const far = 1 << 60

func sane(t int64) int64 { return min(max(t, -far), far) }

// saneWall is sane for ns since 1970, which far is in 2006.
func saneWall(t int64) int64 { return min(max(t, -2*far), 2*far) }
