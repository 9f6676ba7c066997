package main

import (
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/trace"
)

// progress tells on a terminal how far a command is that takes long. It says
// nothing in a pipe, and nothing while the result itself fills the terminal.
type progress struct {
	s       *streams
	end     int64
	next    time.Time
	printed bool
}

// progressAfter is how long a command may be silent.
const progressAfter = 500 * time.Millisecond

func newProgress(s *streams, t *trace.Trace, wanted bool) *progress {
	p := &progress{s: s, next: time.Now().Add(progressAfter)}
	if wanted && s.errTerm {
		p.end = t.End()
	}
	return p
}

// at shows that the command has come to ns from the trace's start.
func (p *progress) at(ns int64) {
	if p.end <= 0 || ns < 0 {
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(progressAfter / 5)
		p.printed = true
		fmt.Fprintf(p.s.err, "\r%3d%%", min(int(100*float64(ns)/float64(p.end)), 100))
	}
}

// done takes the last word back.
func (p *progress) done() {
	if p.printed {
		fmt.Fprint(p.s.err, "\r    \r")
		p.printed = false
	}
}

// steps returns what tells on a terminal how far something is that takes a known number
// of steps.
func (s *streams) steps(what string) func(done, of int) {
	return func(done, of int) {
		if s.errTerm {
			fmt.Fprintf(s.err, "\r%s%d of %d ", what, done, of)
		}
	}
}

// stepsDone takes the last word back.
func (s *streams) stepsDone() {
	if s.errTerm {
		fmt.Fprint(s.err, "\r                    \r")
	}
}
