package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Intervals of polling. Stores into a mapped file wake no reader.
const (
	pollEvery   = 25 * time.Millisecond
	openEvery   = time.Second
	aliveEvery  = 500 * time.Millisecond
	startWithin = 5 * time.Second // from a file's creation to its header
)

func newTail(c *call) func() error {
	from := c.flags().String("from", "", "leave out everything that ended before `TIME`: 0 is the trace's start, -5s five seconds ago (default: now)")
	open := c.flags().Bool("still-open", false, "also print the open scopes, every second")
	return func() error {
		f, _, err := openFile(c.context(), c.args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		t := &tailer{s: c.s, file: f, out: bufio.NewWriter(c.s.out)}
		if err := t.start(c.context(), *from != ""); err != nil {
			return unlessOver(c.context(), err)
		}
		if err := c.sel.keep(t.follower.Trace(), c.s.nameOf(f.Name())); err != nil {
			return err
		}
		if *from != "" {
			if t.from, err = moment("--from", *from, t.follower.Trace()); err != nil {
				return err
			}
			t.printOverwritten()
		}
		for _, line := range []string{analysis.KeptLine(t.follower.Trace()), analysis.CoolLine(t.follower.Trace()), madeLosses(t.follower.Trace())} {
			if line != "" {
				t.warn(line)
			}
		}
		t.choice = c.sel.Choice(t.follower.Trace())
		t.line = newLiner(t.follower.Trace())
		if *open {
			t.nextOpen = time.Now()
		}
		err = unlessOver(c.context(), t.run(c.context()))
		if err := errors.Join(err, t.out.Flush()); err != nil {
			return err
		}
		if err := readGoTrace(t.follower.Trace()); err != nil {
			return err
		}
		damage := analysis.Damage(t.follower.Problems())
		return c.strict.verdictOf(c.s, c.s.nameOf(f.Name()), t.follower.Trace(), damage, t.cut || t.missed > 0)
	}
}

// madeLosses describes what could not be read of the Go execution trace from which t was made.
func madeLosses(t *trace.Trace) string {
	if t.Lookup(gotrace.FactMade) == "" {
		return ""
	}
	return analysis.LossLine(t)
}

// unlessOver returns err, or nil if the user has ended an endless command.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// tailer follows one trace.
type tailer struct {
	s        *streams
	file     *trace.Reading
	out      *bufio.Writer
	follower *trace.Follower
	choice   *analysis.Choice
	line     *liner
	from     int64
	lost     int64     // as last reported
	cut      bool      // part of the range of --from was overwritten
	missed   int64     // chunks, as last reported
	nextOpen time.Time // zero: never
}

// start waits for the header of a trace whose writer has just created it.
func (t *tailer) start(ctx context.Context, fromStart bool) (err error) {
	for deadline := time.Now().Add(startWithin); ; {
		t.follower, err = open.Follower(t.file, t.file.Size, trace.FollowOptions{FromStart: fromStart}, open.Options{})
		if err == nil || !t.blank() || time.Now().After(deadline) {
			break
		}
		if !pause(ctx, pollEvery) {
			return ctx.Err()
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.file.Name(), err)
	}
	if t.s.errTerm {
		fmt.Fprintf(t.s.err, "scopeview: following %s, process %d; Ctrl-C ends\n", show.Name(t.file.Name()), t.follower.Trace().Header().PID)
	}
	return nil
}

// blank reports whether the file has no header yet: it is empty, or its first
// bytes are the zeros of a file that was just extended.
func (t *tailer) blank() bool {
	var b [format.StateOffset + format.StateSize]byte
	n, _ := t.file.ReadAt(b[:], 0)
	if n < len(b) {
		head := min(n, len(format.Magic))
		return n == 0 || b[0] == 0 || string(b[:head]) == format.Magic[:head]
	}
	return b[0] == 0
}

// pause waits; it returns false once ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// run prints events until the recording ends or the user interrupts it.
func (t *tailer) run(ctx context.Context) error {
	gone := false
	nextAlive := time.Now()
	for {
		done, err := t.follower.Poll(t.print)
		if err != nil {
			return fmt.Errorf("%s: %w", t.file.Name(), err)
		}
		t.printLosses()
		if now := time.Now(); !t.nextOpen.IsZero() && !now.Before(t.nextOpen) {
			t.nextOpen = now.Add(openEvery)
			if err := t.follower.Open(t.printOpen); err != nil {
				return fmt.Errorf("%s: %w", t.file.Name(), err)
			}
		}
		if err := t.out.Flush(); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
		switch {
		case done:
			t.warn("the recording was stopped")
			return nil
		case gone:
			t.warn(fmt.Sprintf("process %d ended, or was killed, without stopping the recording", t.follower.Trace().Header().PID))
			return nil
		}
		if now := time.Now(); now.After(nextAlive) {
			nextAlive = now.Add(aliveEvery)
			// If it is gone, one more poll reads its last records.
			alive, known := trace.WriterAlive(t.file.Trace())
			if gone = known && !alive; gone {
				continue
			}
		}
		if !pause(ctx, pollEvery) {
			return nil
		}
	}
}

func (t *tailer) print(e *trace.Event) bool {
	if e.Start+e.Dur >= t.from && e.Kind.Spec() != nil && e.Kind.Spec().CSV != "" && t.choice.Keep(e) {
		t.out.Write(t.line.ended(e)) // an error stays until Flush
	}
	return true
}

func (t *tailer) printOpen(e *trace.Event) bool {
	if t.choice.Keep(e) {
		t.out.Write(t.line.open(e))
	}
	return true
}

// printLosses prints the losses since its last call.
func (t *tailer) printLosses() {
	tr := t.follower.Trace()
	if _, total := analysis.Losses(tr); total > t.lost {
		t.out.Flush()
		t.warn(t.s.alarm(fmt.Sprintf("%s more lost; in total %s", show.Count(total-t.lost), analysis.LossText(analysis.Losses(tr)))))
		t.lost = total
	}
	if missed := t.follower.Missed(); missed > t.missed {
		t.out.Flush()
		verb := "were overwritten before they"
		if missed-t.missed == 1 {
			verb = "was overwritten before it"
		}
		t.warn(t.s.alarm(fmt.Sprintf("at least %s of the ring %s could be read", show.Plural(missed-t.missed, "chunk"), verb)))
		t.missed = missed
	}
}

// printOverwritten prints what a ring no longer has of the range of --from.
func (t *tailer) printOverwritten() {
	tr := t.follower.Trace()
	if o := tr.Overwritten(); o.Records > 0 && t.from < o.Until {
		t.cut = true
		t.warn(analysis.OverwrittenLine(tr))
	}
}

func (t *tailer) warn(text string) {
	fmt.Fprintf(t.s.err, "scopeview: %s: %s\n", show.Name(t.s.nameOf(t.file.Name())), text)
}
