package sys

import (
	"runtime"
	"testing"
)

// TestFramePointers: where frame pointers can be walked, they lead to the same
// functions as runtime.Callers.
func TestFramePointers(t *testing.T) {
	if !haveFrames {
		if FramePointers() == nil {
			t.Error("verified what is not there")
		}
		t.Skip("no frame pointers in this build")
	}
	if err := FramePointers(); err != nil {
		t.Error(err)
	}
}

// TestCallersIsWithinItsStack: callers are found while the stack grows, moves
// and shrinks, and their number is limited.
func TestCallersIsWithinItsStack(t *testing.T) {
	walk := FramePointers() == nil
	var deep func(n int) int
	deep = func(n int) int {
		var pad [512]byte
		if n == 0 {
			var pcs PCs
			return callersHere(&pcs, walk)
		}
		pad[n] = 1
		return deep(n-1) + int(pad[0])
	}
	for range 50 {
		c := make(chan int)
		go func() { c <- deep(100) }()
		if n := <-c; n != MaxCallers {
			t.Fatalf("%d callers of a hundred, want %d", n, MaxCallers)
		}
		runtime.GC()
	}
	done := make(chan int)
	go func() {
		var pcs PCs
		done <- callersHere(&pcs, walk)
	}()
	if n := <-done; n < 1 || n > 3 {
		t.Errorf("%d callers at a goroutine's beginning", n)
	}
}

//go:noinline
func callersHere(pcs *PCs, walk bool) int { return len(Callers(pcs, walk)) }

func BenchmarkCallers(b *testing.B) {
	for name, walk := range map[string]bool{"walked": true, "runtime": false} {
		b.Run(name, func(b *testing.B) {
			if walk && FramePointers() != nil {
				b.Skip(FramePointers())
			}
			var at func(n int)
			at = func(n int) {
				if n > 0 {
					at(n - 1)
					return
				}
				var pcs PCs
				for b.Loop() {
					callersHere(&pcs, walk)
				}
			}
			at(7)
		})
	}
}
