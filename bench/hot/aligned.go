package hot

import (
	"reflect"

	"github.com/scopeview/scopeview/scope"
)

// When a scope costs three cycles, as it does when it is compiled to nothing, the choice of
// the reference matters. Two loops that differ only in their callee take a cycle more or
// less by whether the loop begins on a boundary of 64 bytes (the linker gives it one of 32),
// and another one by whether the callee does: over 48 random layouts of one program the
// difference between the loop over an empty function and that over a scope was 0.6 to 1.7
// ns, in steps of 0.33, a cycle here. Which of these a build shows is chance, and a change
// anywhere in the program changes it.
//
// So there is one loop for all callees, which therefore has the same place for
// all and differs in nothing but where its call leads, and the callees are
// functions that begin on such a boundary. In the 12 of 24 random layouts where all
// did the difference was the same, three cycles: 1.00 ns, or up to a sixteenth less
// where the processor ran faster.

// Each calls f n times.
//
//go:noinline
func Each(n int, f func()) {
	for range n {
		f()
	}
}

// boundary is the block size of instruction fetches.
const boundary = 64

// Aligned returns the one of two equal functions that begins on a boundary, and whether
// there is one. If they are adjacent in the program, one does if their length is an odd
// multiple of 32.
func Aligned(equal [2]func()) (f func(), ok bool) {
	for _, f := range equal {
		if reflect.ValueOf(f).Pointer()%boundary == 0 {
			return f, true
		}
	}
	return equal[0], false
}

// The callees of Each: nothing, a scope, one with two ints.
var (
	Empty = [2]func(){emptyA, emptyB}
	Task  = [2]func(){taskA, taskB}
	Ints  = [2]func(){intsA, intsB}
)

//go:noinline
func emptyA() {}

//go:noinline
func emptyB() {}

//go:noinline
func taskA() { defer scope.Task("f1")() }

//go:noinline
func taskB() { defer scope.Task("f1")() }

//go:noinline
func intsA() { defer scope.Task("f1", argA, argB)() }

//go:noinline
func intsB() { defer scope.Task("f1", argA, argB)() }
