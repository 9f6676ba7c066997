package main

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// convoy answers requests, which come by 32 connections with 25 milliseconds in
// between, from a table: an answer is made under the lock of its part. At first the
// table has one part, which is more than its lock can take: most of the connections
// stand in line at it, and each unlock hands it to the next in line. By strength, it
// takes more requests until the table is split into sixteen parts. Mended, it is split
// from the beginning.
func convoy(o options) func() uint64 {
	const connections, parts = 32, 16
	requests := o.many(400)
	split := o.part(requests)
	text := page(1_300_000)
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
				time.Sleep(25 * time.Millisecond) // until the request comes
				end := scope.Task("answer", n)
				t := &table[0]
				if n >= split {
					t = &table[n%parts]
				}
				t.mu.Lock()
				t.sum += digest(uint64(n), text)
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
