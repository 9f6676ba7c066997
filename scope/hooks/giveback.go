//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/collect"

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
