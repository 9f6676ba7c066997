//go:build linux

package main

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// read reads and checks all events.
func (x *examination) read() error {
	for w := range x.found {
		x.found[w] = map[uint64]*seen{}
	}
	x.batch = map[int64]*seen{}
	long := 0
	err := x.t.Events(trace.Options{}, func(e *trace.Event) bool {
		x.events++
		row := x.t.Name(e.Track)
		switch name := x.t.Name(e.Name); name {
		case nameStep:
			x.step(e, row)
		case nameInner, nameMixed:
			x.row(name, row, rowWorker)
		case nameHanded:
			x.row(name, row, rowEnder)
		case nameBatch:
			x.row(name, row, rowBatch)
			x.batch[x.start+e.Start] = x.seen(e)
		case nameSlow:
			x.row(name, row, rowSlow)
		case nameLong:
			x.row(name, row, rowMain)
			if long++; !e.Open || len(e.Args) != 3 || string(e.Args[0].Str) != "an argument" || e.Args[2].Int() != 7 {
				x.fail("the scope that is open all the time is open: %t, with %d arguments", e.Open, len(e.Args))
			}
		default:
			if e.Kind != format.KindTrack && e.Kind != format.KindGo {
				x.fail("an event is called %q (%d), which nothing is", name, e.Name)
			}
		}
		return true
	})
	if long != 1 {
		x.fail("the scope that is open all the time is there %d times", long)
	}
	return err
}

func (x *examination) row(name, row, want string) {
	if !strings.HasPrefix(row, want) {
		x.fail("a scope %q is on the row %q, not on that of a %s", name, row, want)
	}
}

func (x *examination) seen(e *trace.Event) *seen {
	return &seen{start: x.start + e.Start, stop: x.start + e.Start + e.Dur, open: e.Open, times: 1}
}

// step records a step; its arguments identify the worker and the step.
func (x *examination) step(e *trace.Event, row string) {
	if len(e.Args) == 0 && x.start+e.Start < x.until {
		return // its begin was overwritten before it ended, and its arguments with it
	}
	if len(e.Args) != 2 || e.Args[0].Value >= workers {
		x.fail("a step at %d ns has %d arguments", e.Start, len(e.Args))
		return
	}
	w, n := int(e.Args[0].Value), e.Args[1].Value
	if want := fmt.Sprint(rowWorker, " ", w); row != want {
		x.fail("step %d of worker %d is on the row %q", n, w, row)
	}
	if before := x.found[w][n]; before != nil {
		before.times++
		return
	}
	x.found[w][n] = x.seen(e)
}
