package main

import (
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// cache answers repeated questions from memory, and others from a database, which takes
// eight milliseconds.
type cache struct {
	mu      scope.Mutex
	answers map[int]uint64
}

// ask represents a database: the answer takes time, but no processor.
func ask(key int) uint64 {
	defer scope.Task("ask database", key)()
	time.Sleep(8 * time.Millisecond)
	return uint64(key) * 0x9e3779b97f4a7c15
}

// get asks the database either while it holds the lock, or without it, so that others get
// their answers meanwhile.
func (c *cache) get(key int, underLock bool) uint64 {
	c.mu.Lock()
	answer, ok := c.answers[key]
	if !ok && underLock {
		answer = ask(key)
		c.answers[key] = answer
	}
	c.mu.Unlock()
	if ok || underLock {
		return answer
	}
	answer = ask(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[key] = answer
	return answer
}

// blockingUnderLock builds pages from the answers of a cache. By strength, it asks the
// database under the cache's lock for more of the missing entries. Mended, it asks without
// the lock.
func blockingUnderLock(o options) func() uint64 {
	pages := o.many(75)
	text := page(4_000_000)
	return func() uint64 {
		c := &cache{mu: scope.Mutex{Name: "cache.mu"}, answers: make(map[int]uint64)}
		under := func(n int) bool { return n*7%20 < o.part(20) }
		var next atomic.Int64
		var sum atomic.Uint64
		inParallel(processors+1, func(int) {
			for n := int(next.Add(1)) - 1; n < pages; n = int(next.Add(1)) - 1 {
				end := scope.Task("page", n)
				sum.Add(digest(c.get(n, under(n)), text))
				end()
			}
		})
		return sum.Load()
	}
}
