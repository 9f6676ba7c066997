// Package inorder does pieces of work on all processors, and takes their results one after
// the other: chunks of a trace can be read at the same time, what is told of them can't.
package inorder

import (
	"runtime"
	"sync"
)

// Ahead is how many pieces Each has at a time, for every goroutine that works: one that it
// works on, and one that waits to be taken.
const Ahead = 2

// Each calls do for the pieces 0 to n-1, several at the same time, and take for each that is
// done: in order, on the goroutine of the caller. It returns when take has returned false, or
// has had all, and no do runs any more.
//
// A result is a *T that a piece before had, and that do fills anew: so memory is used again,
// and there are never more results than Ahead for each processor. do and take do not share one
// at the same time. A piece should take long against a channel's microsecond.
func Each[T any](n int, do func(i int, piece *T), take func(i int, piece *T) bool) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		var piece T
		for i := range n {
			if do(i, &piece); !take(i, &piece) {
				return
			}
		}
		return
	}
	type slot struct {
		piece T
		done  chan struct{}
	}
	// The piece i has the slot i mod their number, so a piece may be begun when that many
	// before it was taken.
	slots := make([]slot, min(Ahead*workers, n))
	begin := make(chan int, len(slots))
	for i := range slots {
		slots[i].done = make(chan struct{}, 1)
		begin <- i
	}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for i := range begin {
				s := &slots[i%len(slots)]
				do(i, &s.piece)
				s.done <- struct{}{}
			}
		})
	}
	defer func() { // also if take panics
		for len(begin) > 0 {
			select {
			case <-begin:
			default:
			}
		}
		close(begin)
		working.Wait()
	}()
	for i := range n {
		s := &slots[i%len(slots)]
		<-s.done
		if !take(i, &s.piece) {
			return
		}
		if next := i + len(slots); next < n {
			begin <- next
		}
	}
}
