package pool

import (
	"errors"
	"math"
	"sync/atomic"
)

// # Memory
//
// Chunks that wait to be written, and those of a trace that itself lies in memory, are charged to
// the program's container. The container's remaining memory changes while a program runs, and when
// it is used up the kernel kills the program. So Allow sets once a second how much is left, and the
// pool uses at most a part of it: the program may need the rest before the next call.

// noMemoryLimit is Allow's argument where nothing limits the memory.
const noMemoryLimit = math.MaxInt64

const (
	// allowedPart is the divisor for the pool's share, a quarter, of the memory that is left plus
	// what the pool already uses.
	allowedPart = 4
	// heapFactor is the weight of the heap's chunks: Go lets the heap grow to about twice the live
	// memory.
	heapFactor = 2
	// leastAllowed is the smallest allowance with which a recording starts, in chunks.
	leastAllowed = 16
)

// errMemory means that the memory limits leave too little.
var errMemory = errors.New("the memory limit is nearly reached: raise it, or record less")

// memory holds what the memory limits leave, as last set, and what the pool may use of it.
type memory struct {
	left, allowed atomic.Int64
	inMemory      bool // the files are memory themselves
}

// Allow sets how many bytes the memory limits leave at the moment. It may be called from any
// goroutine.
func (p *Pool) Allow(left int64) {
	if p.left.Store(left); left != noMemoryLimit {
		p.poke()
	}
}

// nothingNew is the value of left after allow has read it.
const nothingNew = math.MinInt64

// allow computes the pool's allowance from Allow's last value, once for each value, since the
// pool's own use changes.
func (p *Pool) allow() {
	left := p.left.Swap(nothingNew)
	switch left {
	case noMemoryLimit:
		p.allowed.Store(noMemoryLimit)
		return
	case nothingNew:
		return
	}
	held := p.back.memory() + p.inMemoryFile()
	n := max(left+held, 0) / allowedPart
	if p.inMemory && p.Copies() {
		n /= 2 // one half for each
	}
	p.allowed.Store(n)
}

// inMemoryFile returns how many bytes of memory the files take.
func (p *Pool) inMemoryFile() int64 {
	if !p.inMemory {
		return 0
	}
	return p.lay.reserved() * ChunkSize
}

// short returns how many of most chunks can still be prepared in memory, of which held are in use,
// and why not more.
func (c *copier) short(most, allowed, held int64) (int64, error) {
	if allowed < min(most, minWindow) {
		return allowed - held, errMemory
	}
	return min(most, allowed) - held, c.behind(held)
}
