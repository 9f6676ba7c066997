package pool

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// States of a chunk, in the low byte of its word in Pool.states. The owner's number is above it.
const (
	Free    = 0 // never handed out, or handed out and its header not yet written
	Open    = 1
	Sealed  = 2
	Leaving = 3 // being written out: ends go apart from here on
	Gone    = 4 // written out, its pages dropped
)

// Marks of free chunks in the table, above the state, where takers may prepare chunks: see
// linear.go.
const (
	prepared = Free | 1<<8 // by the flusher
	handed   = Free | 2<<8 // to its owner, which has not begun it
)

// TakeOpen hands out the next chunk, up to the very last, and opens it.
func (p *Pool) TakeOpen() (idx int64, lost format.Loss) {
	if idx, lost = p.take(0, 0); lost == 0 {
		p.Advance(idx, Open)
	}
	return idx, lost
}

// State returns a chunk's state.
func (p *Pool) State(idx int64) uint32 {
	if uint64(idx) >= uint64(len(p.states)) {
		return Free
	}
	return atomic.LoadUint32(&p.states[idx]) & 0xff
}

// Advance moves a chunk's state on to the given one and reports whether it did: a state never goes
// back. The owner's number stays. Only the assembly also opens and seals chunks, those of a P.
func (p *Pool) Advance(idx int64, to uint32) bool {
	w := &p.states[idx]
	for {
		old := atomic.LoadUint32(w)
		if old&0xff >= to {
			return false
		}
		if atomic.CompareAndSwapUint32(w, old, old&^0xff|to) {
			return true
		}
	}
}

// forget resets the states of the chunks [from, to) for the next pool.
func (p *Pool) forget(from, to int64) {
	for i := from; i < to; i++ {
		atomic.StoreUint32(&p.states[i], 0) // a late end may read it
	}
}
