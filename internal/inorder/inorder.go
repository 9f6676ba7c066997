// Package inorder processes pieces of work on all processors, and passes on their results in
// order. Chunks of a trace can be read at the same time, but their events must be delivered in
// order.
package inorder

import (
	"runtime"
	"sync"
)

// Ahead is the number of pieces that Each has at a time for every worker: one being processed, and
// one waiting to be taken.
const Ahead = 2

// Each calls do for the pieces 0 to n-1, several at the same time, and take for each result in
// order, on the caller's goroutine. It returns when take has returned false or has had all
// results, and all calls of do have returned.
//
// A result is a *T that an earlier piece used, and that do fills anew: so memory is reused,
// and there are never more results than Ahead for each processor. do and take do not share one
// at the same time. A piece should take much longer than a channel operation, about a
// microsecond.
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
	// Piece i uses slot i modulo the number of slots, so it may begin when the piece that many
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
