package main

import (
	"errors"
	"runtime"

	"github.com/scopeview/scopeview/bench/floor"
)

// parallelRows measures two goroutines at once: whether they share anything.
func parallelRows(b *bench) []row {
	const name = "Task on two goroutines, each"
	if runtime.GOMAXPROCS(0) < 2 {
		return []row{broken(name, errors.New("there is one CPU"))}
	}
	loops := []loop{timed(floor.Loop), together(floor.Loop), timed(tasks), together(tasks)}
	ns, fault, err := b.measured(recordedPlan, 3, loops)
	if err != nil {
		return []row{broken(name, err)}
	}
	r := ratio(name, ns[3], ns[0], 0, 0)
	r.judge, r.goal, r.must = quantity{ns[3] / ns[2], "×"}, 1.05, 1.2
	r.note = "judged against one goroutine's"
	r.fault = fault
	return []row{ratio("the floor on two goroutines, each", ns[1], ns[0], 0, 0), r}
}
