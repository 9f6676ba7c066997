package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// child is the output of a harness built with other tags.
type child struct {
	Empty, Task           float64 // ns
	ToFloor               float64 // Task's multiple of the floor
	Ints                  float64 // ns
	OverTask, OverInts    float64 // ns over an empty call
	Quiet                 float64 // share of the slices
	Aligned               bool    // the compared code is aligned
	Mallocs               float64
	Recorded, Lost, Asked int64
	Path                  format.Path // from the trace's header; 0: nothing is recorded
	Recorder              string
}

// printChild prints the measurements of this build.
func (b *bench) printChild(w io.Writer) error {
	var c child
	var p plan
	var loops []hot.Loop
	t, err := b.recording(job{
		warm: func() {
			p, loops, c.Aligned = childPlan()
			b.warm(p, loops...)
		},
		run: func() {
			ts := b.measure(p, loops...)
			c.Empty, c.Task, c.Ints = ts.ns(1), ts.ns(2), ts.ns(3)
			_, c.Quiet = ts.quiet()
			c.ToFloor, c.OverTask, c.OverInts = ts.to(2, 0), ts.over(2, 1), ts.over(3, 1)
			c.Mallocs = mallocs(hot.Tasks)
		},
		read: func(t tally) (err error) {
			c.Path, err = pathOf(t.path)
			return err
		},
	})
	if err != nil {
		return err
	}
	c.Recorded, c.Lost, c.Recorder = t.recorded, t.lost, t.recorder
	c.Asked = 2*b.iterations(p) + mallocLoop
	return json.NewEncoder(w).Encode(c)
}

// pathOf returns the recording path from a trace; 0 if there is no trace, because the build
// records nothing.
func pathOf(file string) (format.Path, error) {
	t, err := trace.OpenFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer t.Close()
	return t.Header().Path, nil
}

// childPlan returns the loops of this build: the floor, an empty call, a scope and one with
// two ints. The pure path takes microseconds per scope, and a build without recording almost
// nothing.
func childPlan() (p plan, loops []hot.Loop, aligned bool) {
	loops = []hot.Loop{hot.Timed(floor.Loop), hot.Timed(floor.Empty), hot.Timed(hot.Tasks), hot.Timed(hot.TasksInts)}
	const probe = 1000
	switch {
	case !scope.Enabled():
		return offLoops()
	case hot.Timed(hot.Tasks)(probe) > probe*time.Microsecond:
		return plan{slices: 10, size: 1000, settle: recordedPlan.settle}, loops, true
	}
	return recordedPlan, loops, true
}

// offLoops returns the loops of a build that records nothing, see hot.Each. The slices are
// short and many: an empty call itself is fast or slow for some milliseconds at a time (by a
// third, when the processor does not forward the loop's counter from the stack as fast as it
// can), so only neighbours are comparable, and the median of the differences counts.
func offLoops() (p plan, loops []hot.Loop, aligned bool) {
	loops, aligned = []hot.Loop{hot.Timed(floor.Loop)}, true
	for _, equal := range [][2]func(){hot.Empty, hot.Task, hot.Ints} {
		f, ok := hot.Aligned(equal)
		loops = append(loops, hot.Timed(func(n int) { hot.Each(n, f) }))
		aligned = aligned && ok
	}
	return plan{slices: 1000, size: 20_000}, loops, aligned
}
