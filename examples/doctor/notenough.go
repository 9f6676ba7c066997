package main

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/scope"
)

// notEnoughParallelism makes an index of documents, batch by batch: two workers read
// them, and then the main goroutine merges what they found. By strength, merging is a
// larger part of the work: up to three fifths. Mended, the workers merge too.
func notEnoughParallelism(o options) func() uint64 {
	const batches = 10
	documents := o.many(400)
	text := page(250_000)
	merging := len(text) - int(0.6*o.strength*float64(len(text)))
	read := func(i int) uint64 {
		defer scope.Task("read", i)()
		return digest(uint64(i), text[:merging])
	}
	merge := func(i int, sum uint64) uint64 {
		defer scope.Task("merge", i)()
		return digest(sum, text[merging:])
	}
	return func() (total uint64) {
		for batch := range batches {
			end := scope.Task("batch", batch)
			found := make([]uint64, documents)
			var next atomic.Int64
			inParallel(processors, func(int) {
				for i := int(next.Add(1)) - 1; i < documents; i = int(next.Add(1)) - 1 {
					if found[i] = read(i); o.mended {
						found[i] = merge(i, found[i])
					}
				}
			})
			for i, sum := range found {
				if !o.mended {
					sum = merge(i, sum)
				}
				total += sum
			}
			end()
		}
		return total
	}
}
