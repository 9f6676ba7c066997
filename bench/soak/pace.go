//go:build linux

package main

import "time"

// pace maintains a rate, in steps of a millisecond.
type pace struct {
	perMS float64
	begin time.Time
	due   float64 // issued by the end of this millisecond
}

// mostBehind is the maximum that is caught up after a delay by the machine; more would be a
// burst, which this test does not measure.
const mostBehind = 20

// wait waits until more records are due. It returns the number of records that it gave up.
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
