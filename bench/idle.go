package main

import (
	"runtime"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/scope"
)

// idleRows measures what scopes cost that are not recorded, over an empty call.
func idleRows(b *bench) []row {
	ns := b.medians(idlePlan, timed(floor.Empty), timed(tasks), timed(tasksInts), timed(tasksMixed))
	rows := []row{
		over("stopped", ns[1], ns[0], 1.5, 3),
		over("stopped, two int arguments", ns[2], ns[0], 1.5, 3),
		{name: "stopped, int, string and KV", value: quantity{ns[3], "ns"}},
	}
	const name = "running, name filtered out"
	ns, fault, err := b.measured(idlePlan, 0, []loop{timed(floor.Empty), timed(tasks)}, scope.WithFilter("-f1"))
	if err != nil {
		return append(rows, broken(name, err))
	}
	r := over(name, ns[1], ns[0], 3, 6)
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
		{"Task", tasks}, {"with two int arguments", tasksInts}, {"with int, string and KV", tasksMixed},
		{"ended on another P", func(n int) { crossing(n) }},
	}
	var rows []row
	for _, c := range cases {
		rows = append(rows, allocRow("stopped: "+c.name, mallocs(c.run), ""))
		var m float64
		t, err := b.recording(job{
			warm: func() { b.warm(recordedPlan, timed(c.run)) },
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

// mallocLoop is how often a loop runs to count its allocations.
const mallocLoop = 100_000

// mallocs is the number of heap allocations per iteration.
func mallocs(run func(int)) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run(mallocLoop)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / mallocLoop
}
