package main

import (
	"errors"
	"runtime"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
)

// parallelRows measures two goroutines at once, to find shared state.
func parallelRows(b *bench) []row {
	const name = "Task on two goroutines, each"
	if runtime.GOMAXPROCS(0) < 2 {
		return []row{broken(name, errors.New("there is one CPU"))}
	}
	loops := []hot.Loop{hot.Timed(floor.Loop), hot.Together(floor.Loop), hot.Timed(hot.Tasks), hot.Together(hot.Tasks)}
	ts, fault, err := b.measured(recordedPlan, 3, loops)
	if err != nil {
		return []row{broken(name, err)}
	}
	r := ratio(name, ts.ns(3), ts.to(3, 0), 0, 0)
	r.judge, r.goal, r.must = quantity{ts.to(3, 2), "×"}, 1.05, 1.2
	r.note = "judged against one goroutine's; " + ts.note()
	r.fault = fault
	return []row{ratio("the floor on two goroutines, each", ts.ns(1), ts.to(1, 0), 0, 0), r}
}
