package main

import (
	"runtime"
	"time"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/scope"
)

// idleRows measures the cost of scopes that are not recorded, over an empty call.
func idleRows(b *bench) []row {
	ts := b.measure(idlePlan, hot.Timed(floor.Loop), hot.Timed(floor.Empty), hot.Timed(hot.Tasks), hot.Timed(hot.TasksInts), hot.Timed(hot.TasksMixed))
	beyond := func(name string, loop int) row { return over(name, ts.ns(loop), ts.ns(1), ts.over(loop, 1), 1.5, 3) }
	rows := []row{
		beyond("stopped", 2),
		beyond("stopped, two int arguments", 3),
		{name: "stopped, int, string and KV", value: quantity{ts.ns(4), "ns"}},
	}
	const name = "running, name filtered out"
	ts, fault, err := b.measured(idlePlan, 0, []hot.Loop{hot.Timed(floor.Loop), hot.Timed(floor.Empty), hot.Timed(hot.Tasks)}, scope.WithFilter("-f1"))
	if err != nil {
		return append(rows, broken(name, err))
	}
	r := over(name, ts.ns(2), ts.ns(1), ts.over(2, 1), 3, 6)
	r.fault = fault
	return append(rows, r)
}

// allocRows counts heap allocations. The recorder's goroutines make a few a
// second, so the mean over many scopes is judged.
func allocRows(b *bench) []row {
	cases := []struct {
		name string
		run  func(int)
	}{
		{"Task", hot.Tasks}, {"with two int arguments", hot.TasksInts}, {"with int, string and KV", hot.TasksMixed},
		{"ended on another P", func(n int) { hot.Crossing(n) }},
	}
	var rows []row
	for _, c := range cases {
		rows = append(rows, allocRow("stopped: "+c.name, mallocs(c.run), ""))
		var m float64
		t, err := b.recording(job{
			warm: func() { b.warm(recordedPlan, hot.Timed(c.run)) },
			run:  func() { m = mallocs(c.run) },
		})
		if err != nil {
			rows = append(rows, broken(c.name, err))
			continue
		}
		rows = append(rows, allocRow(c.name, m, t.kept(mallocLoop)))
	}
	return rows
}

func allocRow(name string, mallocs float64, fault string) row {
	q := quantity{mallocs, "allocs"}
	return row{name: name, value: q, judge: q, goal: 0.005, must: 0.005, fault: fault}
}

// mallocLoop is the number of iterations for counting allocations. The recorder's goroutines
// sometimes make some hundreds, which are negligible in a mean over so many.
const mallocLoop = 1_000_000

// mallocs returns the number of heap allocations per iteration. It pauses between slices:
// another row measures the losses of bursts.
func mallocs(run func(int)) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range mallocLoop / recordedPlan.size {
		run(recordedPlan.size)
		time.Sleep(recordedPlan.settle)
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / mallocLoop
}
