package gotrace

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/trace"
)

// Generation is one of the generations of a Go execution trace, a second or less of it.
type Generation struct {
	From, To int64 // ns from the trace's start: its first and its last event; To is not known in a damaged one
	Whole    bool  // it was read to its end

	*gowire.Generation
}

// EachGeneration calls f with the header of a Go execution trace of t and its generations, in order,
// until f returns an error. They are valid until f returns. s is the process's in a merged trace, else
// nil. It returns the errors of f and of reading, and none for a trace that is damaged or unknown: f is
// called with what can be read of it.
func EachGeneration(t *trace.Trace, s *trace.Sched, g *trace.GoTrace, f func(head []byte, g *Generation) error) error {
	c, at := clockOf(t), func(ns int64) int64 { return ns }
	if s != nil {
		c, at = clock{mono: s.Own.Mono, wall: s.Wall, same: s.Own.Same, made: s.Own.Made}, s.At
	}
	cut, err := gowire.NewCutter(g.Reader())
	if err == io.EOF || gowire.IsSentence(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading Go execution trace %d: %w", g.Stream, err)
	}
	for {
		one, err := cut.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading Go execution trace %d: %w", g.Stream, err)
		}
		from, to := c.extent(one)
		err = f(cut.Head(), &Generation{at(from), at(to), one.Cut == nil, one})
		one.Free()
		if err != nil {
			return err
		}
	}
}

// extent returns the times of a generation's first and last event.
func (c *clock) extent(g *gowire.Generation) (from, to int64) {
	snap, scale := g.Clock()
	first, last := uint64(math.MaxInt64), uint64(0)
	for b := range g.Batches() {
		if b.Experimental || len(b.Data) == 0 || b.Time == 0 {
			continue
		}
		first, last = min(first, b.Time), max(last, b.Time+length(b.Data))
	}
	if scale == 0 || last == 0 {
		return math.MinInt64, math.MaxInt64 // it may be of any time
	}
	ns := func(at uint64) int64 { return sane(int64(min(float64(at)*scale, far))) }
	if snap.Known {
		c.sync(&exptrace.ClockSnapshot{Trace: exptrace.Time(snap.Trace), Mono: uint64(max(snap.Mono, 0)), Wall: time.Unix(0, snap.Wall)})
	} else {
		c.first(ns(first))
	}
	return ns(first) + c.off, ns(last) + c.off
}

// length returns the time from a batch's begin to its last event.
func length(b []byte) (sum uint64) {
	if b[0] <= gowire.Frequency {
		return 0 // it has no events
	}
	for len(b) > 0 {
		n, ok := gowire.Args(b[0])
		if !ok {
			return sum
		}
		b = b[1:]
		for i := range n + 1 {
			v, size := binary.Uvarint(b)
			if size <= 0 {
				return sum
			}
			if b = b[size:]; i == 0 {
				sum += v
			}
		}
	}
	return sum
}
