//go:build !scope_off

package hooks

import (
	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/record"
)

// made is called on a goroutine that has created another one, whose entry function is at
// entry. The place of the go statement is not recorded yet.
func made(child uint64, entry, _ uintptr) { record.GoroutineCreated(child, entry) }

// inHeap receives the address from which the runtime reads how many bytes of the
// heap are the recorder's.
func inHeap(bytes *uint64) { record.ReportHeap(bytes) }

// asleep receives the function that reports whether the program is deadlocked.
func asleep(f func() bool) {
	isAsleep = f
	record.EndOnDeadlock(f)
}

// isAsleep is that function; nil if there is none.
var isAsleep func() bool

// profiling, tracing and flying are called before the program starts a CPU profile, an
// execution trace or a flight recorder, of which Go has one each. The functions that they
// return are called once the program has started it, or failed to.

func profiling(w any) func() { return giveBack(collect.CPUProfile, w) }

func tracing(w any) func() { return giveBack(collect.ExecutionTrace, w) }

func flying(recorder any) func() { return giveBack(collect.FlightRecorder, recorder) }

func giveBack(r collect.Resource, by any) func() {
	if f := collect.GiveBack.Load(); f != nil {
		return (*f)(r, by)
	}
	return func() {}
}
