package inorder_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/inorder"
)

// on sets the number of processors for the test.
func on(t *testing.T, processors int) {
	was := runtime.GOMAXPROCS(processors)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// gone waits until there are no more goroutines than before, because a finished goroutine may
// still be exiting.
func gone(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestOrder: all pieces are taken once and in order, for any number of pieces and processors,
// with limited memory.
func TestOrder(t *testing.T) {
	for _, processors := range []int{1, 2, 3, 8} {
		on(t, processors)
		for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 1000} {
			pieces := map[*[]int]bool{}
			var begun, taken atomic.Int64
			inorder.Each(n, func(i int, piece *[]int) {
				begun.Add(1)
				if ahead := int64(i) - taken.Load(); ahead >= int64(inorder.Ahead*processors) {
					t.Errorf("on %d processors, the piece %d is %d ahead", processors, i, ahead)
				}
				*piece = append((*piece)[:0], i, i*i)
			}, func(i int, piece *[]int) bool {
				if int64(i) != taken.Load() || len(*piece) != 2 || (*piece)[0] != i || (*piece)[1] != i*i {
					t.Errorf("on %d processors, %v is taken as %d after %d pieces", processors, *piece, i, taken.Load())
				}
				pieces[piece] = true
				taken.Add(1)
				return true
			})
			if begun.Load() != int64(n) || taken.Load() != int64(n) || len(pieces) > inorder.Ahead*processors {
				t.Errorf("on %d processors, of %d pieces %d were done and %d taken, in %d places", processors, n, begun.Load(), taken.Load(), len(pieces))
			}
		}
	}
}

// TestStop: after take returns false nothing runs any more, and few pieces were processed in
// vain.
func TestStop(t *testing.T) {
	for _, processors := range []int{1, 4} {
		on(t, processors)
		goroutines := runtime.NumGoroutine()
		var running, begun atomic.Int64
		last := -1
		inorder.Each(1<<40, func(i int, _ *int) {
			running.Add(1)
			begun.Add(1)
			runtime.Gosched()
			running.Add(-1)
		}, func(i int, _ *int) bool { last = i; return i < 20 })
		if n := running.Load(); n != 0 || last != 20 {
			t.Errorf("%d pieces are still worked on after the piece %d", n, last)
		}
		if n := begun.Load(); n > 21+int64(inorder.Ahead*processors) {
			t.Errorf("%d pieces were begun, and 21 taken", n)
		}
		gone(t, goroutines)
	}
}

// TestParallel: two pieces are processed at the same time: each waits for the other.
func TestParallel(t *testing.T) {
	on(t, 2)
	met := make(chan int)
	sum := 0
	inorder.Each(2, func(i int, piece *int) {
		if i == 0 {
			*piece = <-met
		} else {
			met <- 7
		}
	}, func(_ int, piece *int) bool { sum += *piece; return true })
	if sum != 7 {
		t.Errorf("the sum is %d", sum)
	}
}

// TestPanic: a panic of take is passed on, and no goroutine is left.
func TestPanic(t *testing.T) {
	on(t, 2)
	goroutines := runtime.NumGoroutine()
	func() {
		defer func() {
			if recover() != "stop" {
				t.Error("the panic of take is lost")
			}
		}()
		inorder.Each(100, func(int, *int) {}, func(i int, _ *int) bool {
			if i == 50 {
				panic("stop")
			}
			return true
		})
	}()
	gone(t, goroutines)
}
