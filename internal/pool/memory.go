package pool

import (
	"errors"
	"math"
	"sync/atomic"
)

// # Memory
//
// What chunks take of memory, those that wait to be written and those of a trace that
// lies in memory itself, is taken from the program's container. What that leaves
// changes while a program runs, and when it is used up the kernel kills. So the pool
// is told once a second how much is left (Allow), and has at most a part of it: the
// program may need the rest before the pool hears of that.

// noMemoryLimit is what Allow is told where nothing limits the memory.
const noMemoryLimit = math.MaxInt64

const (
	// allowedPart is which part of what is left, and of what the pool has of it, is
	// the pool's: a quarter.
	allowedPart = 4
	// heapFactor is how often the heap's chunks count: Go lets the heap grow to about
	// twice of what is in use.
	heapFactor = 2
	// leastAllowed is below what no recording begins, in chunks.
	leastAllowed = 16
)

// errMemory says that the limits of memory leave too little.
var errMemory = errors.New("the memory limit is nearly reached: raise it, or record less")

// memory is what the limits of memory leave, as told last, and what the pool may have of
// it.
type memory struct {
	left, allowed atomic.Int64
	inMemory      bool // the files are memory themselves
}

// Allow says how many bytes the limits of memory leave at the moment. It may be called
// from any goroutine.
func (p *Pool) Allow(left int64) {
	if p.left.Store(left); left != noMemoryLimit {
		p.poke()
	}
}

// nothingNew is left when allow has seen it.
const nothingNew = math.MinInt64

// allow makes of what Allow was told last what the pool may have. That is done once for
// each time, since what the pool has changes.
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

// inMemoryFile is how many bytes the files take of memory.
func (p *Pool) inMemoryFile() int64 {
	if !p.inMemory {
		return 0
	}
	return p.lay.reserved() * ChunkSize
}

// short is how many of most chunks can still be prepared in memory, of which there are
// held, and why no more.
func (c *copier) short(most, allowed, held int64) (int64, error) {
	if allowed < min(most, minWindow) {
		return allowed - held, errMemory
	}
	return min(most, allowed) - held, c.behind(held)
}
