package main

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/scope"
)

// lossPlan has slices so short that a text of the largest size fits into the window.
var lossPlan = plan{slices: 40, size: 2_000, settle: recordedPlan.settle}

// lossRows measures scopes beyond the limit of the trace against such as are recorded.
// Each is compared with the floor beside it, since the two are in two recordings.
func lossRows(b *bench) []row {
	names := []string{"a lost scope, one goroutine", "a lost scope, two goroutines, each", "a lost scope with a text of 1 MiB"}
	fail := func(err error) (rows []row) {
		for _, name := range names {
			rows = append(rows, broken(name, err))
		}
		return rows
	}
	if runtime.GOMAXPROCS(0) < 2 {
		return fail(errors.New("there is one CPU"))
	}
	loops := []hot.Loop{hot.Timed(floor.Loop), hot.Timed(hot.Tasks), hot.Together(hot.Tasks), hot.Timed(hot.TasksText)}
	const perIteration = 4
	recorded, fault, err := b.measured(lossPlan, perIteration, loops)
	if err != nil {
		return fail(err)
	}
	var lost times
	t, err := b.recording(job{
		warm: func() { b.warm(lossPlan, loops...) },
		run:  func() { lost = b.measure(lossPlan, loops...) },
		opts: []scope.Option{scope.WithLimit(1 << 20)},
	})
	if err != nil {
		return fail(err)
	}
	if n := perIteration * b.iterations(lossPlan); fault == "" && (t.lost != n || t.recorded != 0) {
		fault = fmt.Sprintf("%d scopes beyond the limit: %d counted as lost, %d recorded", n, t.lost, t.recorded)
	}
	rows := make([]row, len(names))
	for i, name := range names {
		r := ratio(name, lost.ns(i+1), lost.to(i+1, 0), 0, 0)
		r.judge, r.goal, r.must = quantity{lost.to(i+1, 0) / recorded.to(i+1, 0), "×"}, 0.6, 1
		r.note = fmt.Sprintf("judged against a recorded one's %.1f ns; %s", recorded.ns(i+1), lost.note())
		r.fault = fault
		rows[i] = r
	}
	return rows
}
