package main

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// healthyMap digests documents of very different lengths: each worker takes the next.
func healthyMap(o options) func() uint64 {
	documents := o.many(1500)
	text := page(1_600_000)
	return func() uint64 {
		var sum atomic.Uint64
		var next atomic.Int64
		inParallel(processors, func(int) {
			for n := int(next.Add(1)) - 1; n < documents; n = int(next.Add(1)) - 1 {
				end := scope.Task("digest", n)
				sum.Add(digest(uint64(n), text[:n%1500*1000+100_000]))
				end()
			}
		})
		return sum.Load()
	}
}

// healthyPipeline reads and packs documents by the batch, with room between both.
func healthyPipeline(o options) func() uint64 {
	const size = 1_000_000
	batches := o.many(500)
	text := page(size)
	return func() (total uint64) {
		read := make(chan uint64, 16)
		inParallel(processors, func(worker int) {
			if worker == 0 {
				for n := range batches {
					end := scope.Task("read", n)
					sum := digest(uint64(n), text)
					end()
					read <- sum
				}
				close(read)
				return
			}
			for sum := range read {
				end := scope.Task("pack", 0)
				total += digest(sum, text)
				end()
			}
		})
		return total
	}
}

// healthyServer answers requests of eight connections, which come every now and then.
// It is idle for most of the time, and that is as it should be.
func healthyServer(o options) func() uint64 {
	const connections = 8
	requests := o.many(15)
	text := page(3_000_000)
	return func() uint64 {
		var sum atomic.Uint64
		inParallel(connections, func(c int) {
			for n := range requests {
				time.Sleep(time.Duration(24+(c*20+n*12)%28) * time.Millisecond) // until one comes
				end := scope.Task("answer", n)
				sum.Add(digest(uint64(c*requests+n), text))
				end()
			}
		})
		return sum.Load()
	}
}

// healthyBatch counts words like the example of lock contention, but it holds the lock
// for a map access after a hundred microseconds of work.
func healthyBatch(o options) func() uint64 {
	documents := o.many(8000)
	text := page(120_000)
	return func() uint64 {
		mu := scope.Mutex{Name: "longest.mu"}
		longest := make(map[string]uint64)
		var next atomic.Int64
		inParallel(processors, func(int) {
			for n := int(next.Add(1)) - 1; n < documents; n = int(next.Add(1)) - 1 {
				end := scope.Task("document", n)
				sum := digest(uint64(n), text)
				key := strings.Fields(text[:n%200+50])[0]
				mu.Lock()
				longest[key] = max(longest[key], sum)
				mu.Unlock()
				end()
			}
		})
		return longest["the"]
	}
}
