//go:build !scope_off

package hooks

import (
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/collect"
)

// TestGiveBack: each hook announces what the program takes, and the function it returns releases
// that; without a collector there is nothing to give back.
func TestGiveBack(t *testing.T) {
	was := collect.GiveBack.Swap(nil)
	defer collect.GiveBack.Store(was)
	profiling("nobody has it")()
	var got []any
	f := func(r collect.Resource, by any) func() {
		got = append(got, r, by)
		return func() { got = append(got, "released") }
	}
	collect.GiveBack.Store(&f)
	profiling("a")()
	tracing("b")()
	flying("c")()
	want := []any{collect.CPUProfile, "a", "released", collect.ExecutionTrace, "b", "released", collect.FlightRecorder, "c", "released"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
