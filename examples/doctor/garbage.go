package main

import (
	"math/rand/v2"

	"github.com/scopeview/scopeview/scope"
)

// entry is one of many entries that the program keeps, and that point to each other.
type entry struct {
	next *entry
	id   uint64
}

// index returns n entries in one ring, in random order.
func index(n int) []*entry {
	entries := make([]*entry, n)
	for i := range entries {
		entries[i] = &entry{id: uint64(i)}
	}
	order := rand.New(rand.NewPCG(5, 6)).Perm(n)
	for i, at := range order {
		entries[at].next = entries[order[(i+1)%n]]
	}
	return entries
}

// garbage answers requests, each into a buffer. By strength, more of the requests allocate
// their own buffer. That is cheap, but whenever the new buffers have as many bytes as the
// program keeps, the garbage collector scans everything it keeps: a million and a half
// entries. Mended, a worker reuses its buffer.
func garbage(o options) func() uint64 {
	const size, steps = 8 << 10, 40
	requests := o.many(120_000)
	text := page(2000)
	entries := index(1_500_000)
	return func() uint64 {
		var sums [processors]uint64
		inParallel(processors, func(worker int) {
			buffer := make([]byte, size)
			sum := uint64(0)
			for n := worker; n < requests; n += processors {
				end := scope.Task("answer", n)
				if n*7%20 < o.part(20) {
					buffer = make([]byte, size)
				}
				answer := buffer[:0]
				at := entries[n%len(entries)]
				for range steps {
					at = at.next
					answer = append(answer, byte(at.id), byte(at.id>>8))
				}
				sum += digest(digest(uint64(n), text), string(answer))
				end()
			}
			sums[worker] = sum
		})
		return sums[0] + sums[1]
	}
}
