package main

import (
	"math"
	"sync"

	"github.com/scopeview/scopeview/scope"
)

// guarded runs f on a goroutine of its own, so that it could be abandoned after a timeout,
// and waits for it.
func guarded(f func()) {
	var running sync.WaitGroup
	running.Go(f)
	running.Wait()
}

// tooFine checks records, each with half a microsecond of computing. It guards them in
// batches, which by strength are smaller: at 1 a goroutine is made for each record.
// Mended, it guards 4096 records at a time.
//
// It is shorter than the others: Go's execution trace of two million goroutines in a
// second would be most of what it shows.
func tooFine(o options) func() uint64 {
	const largest = 4096
	records := o.many(300_000)
	batch := float64(largest)
	if !o.mended {
		batch = math.Pow(largest, math.Pow(1-o.strength, 2))
	}
	text := page(500)
	return func() uint64 {
		var sums [processors]uint64
		inParallel(processors, func(worker int) {
			first := worker * records / processors
			last := (worker + 1) * records / processors
			for n, at := 1, first; at < last; n++ {
				to := min(first+int(float64(n)*batch), last)
				guarded(func() {
					defer scope.Task("check", at)()
					sum := uint64(0)
					for i := at; i < to; i++ {
						sum += digest(uint64(i), text)
					}
					sums[worker] += sum
				})
				at = to
			}
		})
		return sums[0] + sums[1]
	}
}
