package main

import (
	"github.com/scopeview/scopeview/scope"
)

// channel has one goroutine that reads documents and one that packs them, with a
// channel between them. On average both take the same time for a document. But by
// strength, 32 documents in a row take longer to read and shorter to pack, and the
// next 32 the other way round. The channel has room for two: first one waits, then the
// other. Mended it has room for as many as there are in a row.
func channel(o options) func() uint64 {
	const mean, row = 900_000, 32
	documents := o.many(704)
	text := page(2 * mean)
	room := 2
	if o.mended {
		room = row
	}
	more := int(0.6 * o.strength * mean)
	longer := func(n int) int {
		if n/row%2 == 0 {
			return more
		}
		return -more
	}
	return func() (total uint64) {
		read := make(chan uint64, room)
		inParallel(processors, func(worker int) {
			if worker == 0 {
				for n := range documents {
					end := scope.Task("read", n)
					sum := digest(0, text[:mean+longer(n)])
					end()
					read <- sum
				}
				close(read)
				return
			}
			for n := range documents {
				sum := <-read
				end := scope.Task("pack", n)
				total += digest(sum, text[:mean-longer(n)])
				end()
			}
		})
		return total
	}
}
