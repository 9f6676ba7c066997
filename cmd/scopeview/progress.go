package main

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// progress shows on a terminal how far a long command is. It prints nothing in a pipe, and nothing
// while the result itself fills the terminal.
type progress struct {
	s       *streams
	end     int64
	begin   time.Time
	next    time.Time
	printed bool
}

// progressAfter is the time before progress is shown.
const progressAfter = 500 * time.Millisecond

func newProgress(s *streams, t *trace.Trace, wanted bool) *progress {
	p := &progress{s: s, begin: time.Now(), next: time.Now().Add(progressAfter)}
	if wanted && s.errTerm {
		p.end = t.End()
	}
	return p
}

// at shows that the command has reached ns from the trace's start.
func (p *progress) at(ns int64) {
	if p.end <= 0 || ns < 0 {
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(progressAfter / 5)
		p.printed = true
		share := min(float64(ns)/float64(p.end), 1)
		fmt.Fprintf(p.s.err, "\r%3d%%%s \x1b[K", int(100*share), timeLeft(now.Sub(p.begin), share))
	}
}

// done erases the line.
func (p *progress) done() {
	if p.printed {
		fmt.Fprint(p.s.err, "\r\x1b[K")
		p.printed = false
	}
}

// timeLeft returns the estimated remaining time, after took for that share, as words that follow
// others; "" if it is too early for an estimate.
func timeLeft(took time.Duration, share float64) string {
	if took < 2*time.Second || share < 0.01 || share >= 1 {
		return ""
	}
	left := time.Duration(float64(took) * (1/share - 1))
	return ", " + max(left.Round(time.Second), time.Second).String() + " left"
}

// arrival shows on a terminal how much of a stream has arrived.
type arrival struct {
	s       *streams
	in      *incoming
	begin   time.Time
	next    time.Time
	printed bool
}

// show shows how much has arrived, the speed, and the estimated remaining time.
func (a *arrival) show() {
	now := time.Now()
	if !a.s.errTerm || now.Before(a.next) {
		return
	}
	a.next = now.Add(progressAfter / 5)
	a.printed = true
	got, took := a.in.got.Load(), now.Sub(a.begin)
	text := show.Size(got)
	if a.in.all > 0 {
		text += " of " + show.Size(a.in.all)
	}
	if took >= time.Second {
		text += ", " + show.Size(int64(float64(got)/took.Seconds())) + "/s"
	}
	if a.in.all > 0 {
		text += timeLeft(took, float64(got)/float64(a.in.all))
	}
	fmt.Fprintf(a.s.err, "\r%s \x1b[K", text)
}

// done erases the line.
func (a *arrival) done() {
	if a.printed {
		fmt.Fprint(a.s.err, "\r\x1b[K")
	}
}

// steps returns a function that shows on a terminal the progress of a known number of steps.
func (s *streams) steps(what string) func(done, of int) {
	return func(done, of int) {
		if s.errTerm {
			fmt.Fprintf(s.err, "\r%s%d of %d ", what, done, of)
		}
	}
}

// stepsDone erases the line.
func (s *streams) stepsDone() {
	if s.errTerm {
		fmt.Fprint(s.err, "\r                    \r")
	}
}
