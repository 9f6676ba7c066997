package main

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// spinning packs documents with two workers, and a third goroutine collects what they
// have packed. It looks whether there is something again and again, because that
// seems to be faster than to sleep, and by strength it does so for longer before it
// waits for it: up to 20 ms. Mended it waits at once.
//
// With a processor more it would cost nothing but power; with as many processors as
// workers it takes the time of a worker.
func spinning(o options) func() uint64 {
	documents := o.many(1000)
	text := page(1_000_000)
	patience := time.Duration(o.part(int(20 * time.Millisecond)))
	return func() (total uint64) {
		packed := make(chan uint64, documents)
		var next atomic.Int64
		inParallel(processors+1, func(worker int) {
			if worker < processors {
				for n := int(next.Add(1)) - 1; n < documents; n = int(next.Add(1)) - 1 {
					end := scope.Task("pack", n)
					packed <- digest(uint64(n), text)
					end()
				}
				return
			}
			for begin, n := time.Now(), 0; n < documents; {
				poll := scope.Retry("poll packed")
				for len(packed) == 0 && time.Since(begin) < patience {
					poll.Again()
				}
				poll.Done()
				total += <-packed
				n++
				if time.Since(begin) >= patience {
					begin = time.Now()
				}
			}
		})
		return total
	}
}
