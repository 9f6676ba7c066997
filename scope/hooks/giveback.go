//go:build !scope_off

package hooks

import "github.com/scopeview/scopeview/internal/collect"

// Of Go's CPU profile, its execution trace and its flight recorder there is one each. These are
// called before the program takes one; what they return is called when it has it, or could not.

func profiling(w any) func() { return giveBack(collect.CPUProfile, w) }

func tracing(w any) func() { return giveBack(collect.ExecutionTrace, w) }

func flying(recorder any) func() { return giveBack(collect.FlightRecorder, recorder) }

func giveBack(r collect.Resource, by any) func() {
	if f := collect.GiveBack.Load(); f != nil {
		return (*f)(r, by)
	}
	return func() {}
}
