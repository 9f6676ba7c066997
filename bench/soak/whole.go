//go:build linux

package main

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/trace"
)

// checked has the counts of comparing a trace with its writer's ledger.
type checked struct {
	traces   int
	events   int64
	promised int64 // steps that had to exist, and did
	timed    int64 // of those, compared by their times
	batches  int64 // scopes whose begin was overwritten before they ended
	lost     int64 // lost records, from the trace
	over     int64 // overwritten
	off      int64 // ns: the maximum error of a time
}

func (c *checked) add(o *checked) {
	c.traces += o.traces
	c.events += o.events
	c.promised += o.promised
	c.timed += o.timed
	c.batches += o.batches
	c.lost += o.lost
	c.over += o.over
	c.off = max(c.off, o.off)
}

func (c *checked) String() string {
	return fmt.Sprintf("%d events; %d steps that had ended are there, %d of them compared by their times (at most %.1f µs off), and %d scopes whose begin was overwritten; %d records lost, %d overwritten",
		c.events, c.promised, c.timed, float64(c.off)/1e3, c.batches, c.lost, c.over)
}

// whole checks the trace of a writer that has ended: closed by itself, or killed.
// It must be sound by every rule of the format; what the ledger has must be in it,
// unless it was overwritten. Everything that is wrong is a
// violation, and keeps the trace.
func (s *soak) whole(c *child, closed bool, sum *checked) {
	var x examination
	if err := x.run(c, closed); err != nil {
		x.fail("%v", err)
	}
	sum.add(&x.checked)
	if len(x.wrong) == 0 {
		return
	}
	kept := s.evidence(c.path)
	what := "killed writer"
	if closed {
		what = "steady writer"
	}
	s.fail("%s (%s): %s", what, kept, strings.Join(x.wrong, "; "))
}

// examination is the check of one trace.
type examination struct {
	checked
	t     *trace.Trace
	l     *ledger
	start int64 // ns of the monotonic clock at the trace's start
	until int64 // the same, from when on all is there
	found [workers]map[uint64]*seen
	batch map[int64]*seen // by start
	wrong []string
	more  int
}

// seen is a scope in the trace.
type seen struct {
	start, stop int64 // ns of the monotonic clock
	open        bool
	times       int
}

// mostWrong is the maximum number of violations reported per trace.
const mostWrong = 8

func (x *examination) fail(format string, args ...any) {
	if x.more++; x.more <= mostWrong {
		x.wrong = append(x.wrong, fmt.Sprintf(format, args...))
	}
}

func (x *examination) run(c *child, closed bool) error {
	x.traces, x.l = 1, c.ledger
	t, err := trace.OpenFile(c.path)
	if err != nil {
		return err
	}
	defer t.Close()
	x.t = t
	if t.Closed() != closed {
		x.fail("the trace says closed is %t", t.Closed())
	}
	if err := x.verify(c.path); err != nil {
		return err
	}
	st := t.State()
	x.lost, x.over = st.Lost, st.Overwritten
	x.start = t.Header().StartMono
	if st.Until > 0 {
		x.until = x.start + t.Nanos(st.Until)
	}
	if err := x.read(); err != nil {
		return err
	}
	for w := range workers {
		x.steps(w)
	}
	x.longer()
	for _, p := range t.Problems() {
		if p.Damage() {
			x.fail("damage at %d: %s (%d times)", p.Offset, p.Text, p.Count)
		}
	}
	return nil
}

func (x *examination) verify(path string) error {
	f, err := hot.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	findings, err := trace.Verify(f, st.Size())
	if err != nil {
		return err
	}
	for _, f := range findings {
		x.fail("verify: at %d: %s: %s", f.Offset, f.Rule, f.Text)
	}
	return nil
}
