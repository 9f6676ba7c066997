package main

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/scope"
)

// Arguments that no compiler knows, and too large for the runtime's table of
// small boxed integers.
var (
	argA, argB = 1234, 5678
	argS       = "an argument"
)

//go:noinline
func task() { defer scope.Task("f1")() }

//go:noinline
func taskInts() { defer scope.Task("f1", argA, argB)() }

//go:noinline
func taskMixed() { defer scope.Task("f1", argA, argS, scope.KV("key", argB))() }

func tasks(n int) {
	for range n {
		task()
	}
}

func tasksInts(n int) {
	for range n {
		taskInts()
	}
}

func tasksMixed(n int) {
	for range n {
		taskMixed()
	}
}

func hotRows(b *bench) []row {
	return []row{
		{name: "two readings of the clock: the floor", value: quantity{b.medians(recordedPlan, timed(floor.Loop))[0], "ns"}, floor: 1},
		b.hotRow("Task, wall and thread CPU time", timed(tasks), 1.05, 1.3),
		b.hotRow("with two int arguments", timed(tasksInts), 1.2, 1.6),
		b.hotRow("with int, string and KV", timed(tasksMixed), 2.0, 2.6),
		b.hotRow("ended on another P", crossing, 1.3, 2.0),
		b.bytesRow(),
	}
}

func (b *bench) hotRow(name string, l loop, goal, must float64) row {
	ns, fault, err := b.measured(recordedPlan, 1, []loop{timed(floor.Loop), l})
	if err != nil {
		return broken(name, err)
	}
	r := ratio(name, ns[1], ns[0], goal, must)
	r.fault = fault
	return r
}

// crossing begins scopes on one P and ends them on another. While one of the
// two goroutines works through a batch the other spins, so that both keep their
// P; only the work is timed.
func crossing(n int) time.Duration {
	const batch = 1000
	const begin, end, stop = 0, 1, 2
	var (
		spans [batch]scope.Span
		turn  atomic.Int32
		ended time.Duration
		done  = make(chan struct{})
	)
	go func() {
		defer close(done)
		for {
			switch turn.Load() {
			case end:
				from := time.Now()
				for i := range spans {
					spans[i].End()
				}
				ended += time.Since(from)
				turn.Store(begin)
			case stop:
				return
			}
		}
	}()
	var begun time.Duration
	for range n / batch {
		from := time.Now()
		for i := range spans {
			spans[i] = scope.Begin("f1")
		}
		begun += time.Since(from)
		turn.Store(end)
		for turn.Load() == end {
		}
	}
	turn.Store(stop)
	<-done
	return begun + ended
}

// bytesRow measures what a plain scope takes in the file.
func (b *bench) bytesRow() row {
	const name = "bytes of a plain scope in the file"
	const n = 2_000_000
	t, err := b.recording(job{run: func() { paced(n, gentle) }})
	if err != nil {
		return broken(name, err)
	}
	q := quantity{float64(t.bytes) / n, "B"}
	// The goal of 32 bytes leaves room for a share of the chunk's header.
	return row{name: name, value: q, judge: q, goal: 32.5, must: 40, fault: t.kept(n)}
}
