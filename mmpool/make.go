package mmpool

import (
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// # Chunks that are prepared by who needs them
//
// Where chunks are memory, and the file a copy, it takes no disk to prepare one. So who
// finds none ready does it: some 10 to 120 µs, once for 2,000 records, until the memory is used
// up that there may be. Nobody waits for anybody else there, since each prepares a number
// of its own: the flusher takes its numbers from the same counter (next) and marks those
// that it has prepared, and the bump goes past numbers without a mark. What the flusher
// has prepared and nobody has taken when the recording ends can lie before such a chunk:
// see Rest.
//
// Rings are not like that: what is used again must be told as overwritten first, in the
// file. They lose records where the flusher is late.

// Marks of free chunks in the table of states, above the state, where chunks are owned by
// who prepares them.
const (
	prepared = Free | 1<<8 // by the flusher
	handed   = Free | 2<<8 // to its owner, who has not begun it
)

// owned reports whether chunks may be prepared by who needs them.
func (p *Pool) owned() bool { return p.ring == nil && p.Copies() }

// Made is how many chunks were prepared by who needed them.
func (p *Pool) Made() int64 { return p.made.Load() }

// Rest hands out what was prepared and not taken before a chunk that was made, so that
// Live has it. Records have been shut, and the flusher has stopped.
func (p *Pool) Rest() {
	for p.askers.Load() != 0 {
		runtime.Gosched()
	}
	for idx := range p.top.Load() {
		atomic.CompareAndSwapUint32(&p.states[idx], prepared, handed)
	}
}

// make prepares a chunk for the caller.
func (p *Pool) make(spare int64) (int64, format.Loss) {
	// Each of those who are here may be about to take one.
	n, err := p.back.spare()
	if n < p.askers.Load() {
		if err != nil {
			_ = p.refuse(err)
		}
		return 0, format.Loss(p.reason.Load())
	}
	for {
		idx := p.next.Load()
		if p.limit > 0 && idx >= p.limit-spare || idx >= int64(len(p.states)) {
			return 0, format.LossLimit
		}
		if !p.next.CompareAndSwap(idx, idx+1) {
			continue
		}
		if err := p.back.extend(idx, idx+1); err != nil {
			p.next.CompareAndSwap(idx+1, idx)
			_ = p.refuse(err)
			return 0, format.Loss(p.reason.Load())
		}
		atomic.StoreUint32(&p.states[idx], handed)
		p.made.Add(1)
		p.low.Store(0)
		for top := p.top.Load(); top <= idx && !p.top.CompareAndSwap(top, idx+1); top = p.top.Load() {
		}
		p.poke()
		return idx, 0
	}
}
