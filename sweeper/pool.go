package sweeper

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/sys"
)

// A record consists of its head, the weight, and the addresses. The head has
// the name's id (bits 0-15), the number of addresses (16-31) and readyBit.
const (
	headWords = 2
	readyBit  = 1 << 63
)

const (
	chunkWords  = 4096 // 32 KiB
	maxChunks   = 1024 // 32 MiB: the limit of the memory used
	keepFree    = 16   // chunks kept for the next burst
	stripeCount = 64
	stripeBits  = 6
	shutBit     = 1 << 63
	notSealed   = -1
)

// chunk is a block of memory for records.
type chunk struct {
	words  [chunkWords]uint64
	sealed atomic.Int64 // words reserved before the chunk was full; notSealed while it is not
	number uint64       // its index in pool.chunks
}

// stripe has a chunk shared by the goroutines whose stack addresses map to it.
// While a goroutine runs its stack does not move, so two that run at the same
// time rarely share a stripe.
type stripe struct {
	// place has the chunk's number (bits 32-62) and the number of words
	// reserved in it (0-31), which exceeds chunkWords if the chunk is full; bit
	// 63: no more reservations.
	place atomic.Uint64
	mu    sync.Mutex // held to take another chunk, and for queue
	queue []*chunk   // in the order in which they were taken
	_     [80]byte
}

// pool holds the records that are not yet counted.
type pool struct {
	stripes [stripeCount]stripe
	chunks  [maxChunks + 1]atomic.Pointer[chunk] // by number, from 1
	wake    chan struct{}

	mu    sync.Mutex
	free  []*chunk
	spare []uint64 // free numbers
	left  atomic.Int64
}

func newPool(wake chan struct{}) *pool {
	p := &pool{wake: wake}
	for i := uint64(maxChunks); i > 0; i-- {
		p.spare = append(p.spare, i)
	}
	p.left.Store(maxChunks)
	for i := range p.stripes {
		p.stripes[i].place.Store(chunkWords + 1) // no chunk yet
	}
	return p
}

// put stores a record, or returns the reason why it is lost.
func (p *pool) put(name uint16, weight int64, pcs []uintptr) error {
	n := uint64(headWords + len(pcs))
	s := &p.stripes[stripeOf(pcs)]
	for {
		v := s.place.Load()
		if used := v & (1<<32 - 1); v&shutBit == 0 && used <= chunkWords {
			// The check before the addition keeps repeated additions from
			// overflowing.
			v = s.place.Add(n)
			if v&shutBit == 0 && v&(1<<32-1) <= chunkWords {
				c := p.chunks[v>>32].Load()
				at := v&(1<<32-1) - n
				w := c.words[at : at+n]
				w[1] = uint64(weight)
				for i, pc := range pcs {
					w[headWords+i] = uint64(pc)
				}
				atomic.StoreUint64(&w[0], readyBit|uint64(len(pcs))<<16|uint64(name))
				return nil
			}
			p.crossed(v, n)
		}
		if v&shutBit != 0 {
			return ErrStopped
		}
		if why := p.refill(s); why != nil {
			return why
		}
	}
}

// stripeOf returns the stripe for the address of pcs, which is on the caller's
// stack.
func stripeOf(pcs []uintptr) uint64 {
	if len(pcs) == 0 {
		return 0
	}
	return uint64(sys.Address(&pcs[0])>>11) * 0x9e3779b97f4a7c15 >> (64 - stripeBits)
}

// crossed seals a chunk if the reservation of n words that made its stripe's
// place v is the one that crossed the chunk's end: exactly one does.
func (p *pool) crossed(v, n uint64) {
	used := v & (1<<32 - 1)
	if number := v >> 32; v&shutBit == 0 && number != 0 && used > chunkWords && used-n <= chunkWords {
		p.chunks[number].Load().sealed.Store(int64(used - n))
		p.poke()
	}
}

// poke wakes the sweeper.
func (p *pool) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// refill gives a stripe whose chunk is full another one.
func (p *pool) refill(s *stripe) error {
	if p.left.Load() == 0 {
		p.poke()
		return ErrFull // without a lock: all callers come here now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.place.Load()
	switch {
	case v&shutBit != 0:
		return ErrStopped
	case v&(1<<32-1) <= chunkWords:
		return nil // another caller did it
	}
	c := p.take()
	if c == nil {
		p.poke()
		return ErrFull
	}
	s.queue = append(s.queue, c)
	s.place.Store(c.number << 32)
	return nil
}

// take takes a chunk of zeros, or returns nil if there is none.
func (p *pool) take() *chunk {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left.Load() == 0 {
		return nil
	}
	p.left.Add(-1)
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		c.sealed.Store(notSealed)
		return c
	}
	n := len(p.spare)
	c := &chunk{number: p.spare[n-1]}
	p.spare = p.spare[:n-1]
	c.sealed.Store(notSealed)
	p.chunks[c.number].Store(c)
	return c
}

// give returns a chunk of zeros to the pool.
func (p *pool) give(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, c)
	p.left.Add(1)
}

// trim releases all but keepFree of the free chunks.
func (p *pool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) > keepFree {
		c := p.free[len(p.free)-1]
		p.free[len(p.free)-1] = nil
		p.free = p.free[:len(p.free)-1]
		p.chunks[c.number].Store(nil)
		p.spare = append(p.spare, c.number)
	}
}

// shut refuses further records, and seals the chunks.
func (p *pool) shut() {
	for i := range p.stripes {
		s := &p.stripes[i]
		s.mu.Lock()
		v := s.place.Or(shutBit)
		if number, used := v&^shutBit>>32, v&(1<<32-1); number != 0 && used <= chunkWords {
			p.chunks[number].Load().sealed.Store(int64(used))
		}
		s.mu.Unlock()
	}
}
