package main

import (
	"math"
	"sync"

	"github.com/scopeview/scopeview/scope"
)

// guarded runs f as a goroutine of its own, so that it could be given up when it
// takes too long, and waits for it.
func guarded(f func()) {
	var running sync.WaitGroup
	running.Go(f)
	running.Wait()
}

// tooFine checks records, each with a few hundred nanoseconds of computing. It guards
// them in batches, which by strength are smaller: at 1 a goroutine is made for each
// record. Mended, it guards 4096 records at a time.
func tooFine(o options) func() uint64 {
	const largest = 4096
	records := o.many(600_000)
	batch := largest
	if !o.mended {
		away := 1 - o.strength
		batch = int(math.Round(math.Pow(largest, away*away)))
	}
	text := page(300)
	return func() uint64 {
		var sums [processors]uint64
		inParallel(processors, func(worker int) {
			to := (worker + 1) * records / processors
			for at := worker * records / processors; at < to; at += batch {
				guarded(func() {
					defer scope.Task("check", at)()
					for i := at; i < min(at+batch, to); i++ {
						sums[worker] += digest(uint64(i), text)
					}
				})
			}
		})
		return sums[0] + sums[1]
	}
}
