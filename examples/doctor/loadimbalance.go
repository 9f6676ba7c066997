package main

import (
	"math"
	"sync/atomic"

	"github.com/scopeview/scopeview/scope"
)

// loadImbalance compares all documents with those before them, round by round, by two
// workers. Halves of the documents are not halves of the work: the later a document,
// the more there is to compare. By strength, the cut is nearer to the middle of the
// documents and farther from the middle of the work. Mended, each worker takes the
// next document when it is done with one.
func loadImbalance(o options) func() uint64 {
	const documents = 600
	rounds := o.many(40)
	text := page(160)
	compare := func(i int) (sum uint64) {
		defer scope.Task("compare", i)()
		for j := range i {
			sum += digest(uint64(i*j), text)
		}
		return sum
	}
	return func() (total uint64) {
		for round := range rounds {
			end := scope.Task("round", round)
			fair := documents / math.Sqrt2
			cut := int(fair + o.strength*(documents/2-fair))
			var sums [processors]uint64
			var next atomic.Int64
			inParallel(processors, func(worker int) {
				if o.mended {
					for i := int(next.Add(1)) - 1; i < documents; i = int(next.Add(1)) - 1 {
						sums[worker] += compare(documents - 1 - i)
					}
					return
				}
				from, to := 0, cut
				if worker > 0 {
					from, to = cut, documents
				}
				for i := from; i < to; i++ {
					sums[worker] += compare(i)
				}
			})
			total += sums[0] + sums[1]
			end()
		}
		return total
	}
}
