package main

import (
	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
)

func hotRows(b *bench) []row {
	return []row{
		{name: "two readings of the clock: the floor", value: quantity{b.measure(recordedPlan, hot.Timed(floor.Loop)).ns(0), "ns"}, floor: 1},
		b.hotRow("Task, wall and thread CPU time", hot.Timed(hot.Tasks), 1.05, 1.3),
		b.hotRow("with two int arguments", hot.Timed(hot.TasksInts), 1.2, 1.6),
		b.hotRow("with int, string and KV", hot.Timed(hot.TasksMixed), 2.0, 2.6),
		b.hotRow("ended on another P", hot.Crossing, 1.3, 2.0),
		b.bytesRow(),
	}
}

func (b *bench) hotRow(name string, l hot.Loop, goal, must float64) row {
	ts, fault, err := b.measured(recordedPlan, 1, []hot.Loop{hot.Timed(floor.Loop), l})
	if err != nil {
		return broken(name, err)
	}
	r := ratio(name, ts.ns(1), ts.to(1, 0), goal, must)
	r.fault, r.note = fault, ts.note()
	return r
}

// bytesRow measures the bytes of a plain scope in the file.
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
