package main

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// convoy answers requests, which come by 32 connections with 2.5 milliseconds in
// between. By strength, more of an answer is made under the lock of the one table
// that there is. When that is more than the lock can take, most of the connections
// stand in line at it, and each unlock hands it to the next in line. Mended, the table
// has sixteen parts with a lock each.
//
// The lock is full only when more than half of the answers are made under it, so that
// it gets bad only from there on.
func convoy(o options) func() uint64 {
	const connections, parts = 32, 16
	requests := o.many(4000)
	text := page(130_000)
	away := 1 - o.strength
	before, locked := text[:int(away*away*float64(len(text)))], text[int(away*away*float64(len(text))):]
	return func() uint64 {
		var table [parts]struct {
			mu  scope.Mutex
			sum uint64
		}
		for i := range table {
			table[i].mu.Name = "table.mu"
		}
		var next atomic.Int64
		inParallel(connections, func(int) {
			for n := int(next.Add(1)) - 1; n < requests; n = int(next.Add(1)) - 1 {
				time.Sleep(2500 * time.Microsecond) // until the request comes
				end := scope.Task("answer", n)
				sum := digest(uint64(n), before)
				t := &table[0]
				if o.mended {
					t = &table[n%parts]
				}
				t.mu.Lock()
				t.sum += digest(sum, locked)
				t.mu.Unlock()
				end()
			}
		})
		total := uint64(0)
		for i := range table {
			total += table[i].sum
		}
		return total
	}
}
