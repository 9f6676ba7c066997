//go:build linux

package main

import "time"

// pace keeps to a rate, in millisecond steps.
type pace struct {
	perMS float64
	begin time.Time
	due   float64 // issued by the end of this millisecond
}

// mostBehind is what is caught up after the machine had no time for us; more would
// be a burst, which is not what is measured here.
const mostBehind = 20

// wait waits until more is to be issued. It returns how many records it gave up.
func (p *pace) wait(issued int64) (behind int64) {
	if float64(issued) < p.due {
		return 0
	}
	now := float64(time.Since(p.begin)) / float64(time.Millisecond)
	if late := now*p.perMS - float64(issued); late > mostBehind*p.perMS {
		behind = int64(late)
		p.begin = p.begin.Add(time.Duration(late / p.perMS * float64(time.Millisecond)))
		now = float64(issued) / p.perMS
	}
	if ahead := float64(issued)/p.perMS - now; ahead > 0 {
		time.Sleep(time.Duration(ahead * float64(time.Millisecond)))
	}
	p.due = float64(issued) + p.perMS
	return behind
}
