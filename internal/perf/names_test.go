package perf

import (
	"runtime"
	"testing"
)

// callerPC is the return address within its caller.
//
//go:noinline
func callerPC() uintptr {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	return pcs[0]
}

//go:noinline
func outerOfHere() (pc uintptr) { return innerOfHere() }

func innerOfHere() uintptr { return callerPC() }

// An address has all functions that were inlined there, whoever comes next.
func TestFramesAt(t *testing.T) {
	list := framesAt(uint64(outerOfHere()) - 1)
	if len(list) != 2 || list[0].Function != "github.com/scopeview/scopeview/internal/perf.innerOfHere" || !list[0].Inlined ||
		list[1].Function != "github.com/scopeview/scopeview/internal/perf.outerOfHere" || list[1].Inlined || list[1].Start == 0 || list[1].Line != list[1].Start {
		t.Errorf("%+v", list)
	}
	for pc, want := range map[uint64]string{KernelPC: "[kernel]", 1: "<Unknown>", 1 << 60: "<Unknown>"} {
		if list := framesAt(pc); len(list) != 1 || list[0].Function != want {
			t.Errorf("%#x: %+v", pc, list)
		}
	}
}
