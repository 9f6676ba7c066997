package pool

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// bump hands out the next chunk.
type bump struct {
	next   atomic.Int64 // chunk; with noRecords when records get no more
	end    atomic.Int64 // chunks prepared; records may take end - keepForBlocks
	half   atomic.Int64 // a bump that crosses it wakes the flusher
	low    atomic.Int64 // least distance of bump and end so far
	reason atomic.Uint32
	dry    *atomic.Uint32 // why Take has no chunk; Take does not try again before the window grows; 0: try
	askers atomic.Int64   // callers inside none
	top    atomic.Int64   // one more than the last chunk that its taker prepared
	made   atomic.Int64   // number of such chunks
	limit  int64          // chunks; 0: none
	spare  int64          // of the limit, for blocks
	wake   chan struct{}
}

// keepForBlocks is the number of chunks at the window's end that only blocks may take: blocks that
// report an exhausted window still have room.
const keepForBlocks = 2

// keepForRecords is the number of chunks at the window's end that are kept from numerous blocks:
// such blocks can wait at their source, and records can't.
const keepForRecords = 16

// noRecords in the bump makes every later Take fail, also one that has read the bump and not yet
// taken: no goroutine would write the header of a chunk taken after the recording ends.
const noRecords = 1 << 62

// wakeEvery is the number of chunks after which the flusher is woken in any case, so that few wait
// to be written out.
const wakeEvery = 16 << 20 / ChunkSize

func (b *bump) init(o *Options) {
	b.limit, b.dry, b.wake = o.Limit/ChunkSize, o.Dry, make(chan struct{}, 1)
	if b.limit > 0 && !o.Apart {
		b.spare = min(max(8, b.limit/64), b.limit/2)
	}
	if b.dry == nil {
		b.dry = new(atomic.Uint32)
	}
	b.dry.Store(0)
	b.reason.Store(uint32(format.LossWindow))
}

// Wake returns a channel that is signalled when half of the window, or 16 MiB, has been taken.
func (b *bump) Wake() <-chan struct{} { return b.wake }

// Alert makes the next Take signal Wake's channel, until Extend is called.
func (b *bump) Alert() { b.half.Store(0) }

func (b *bump) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Take hands out the next chunk for records. Without one it returns the reason; it never waits. idx
// is the chunk's number, which determines its address; Place returns its place in the file.
func (p *Pool) Take() (idx int64, lost format.Loss) {
	return p.take(keepForBlocks, p.spare)
}

// TakeForBlocks hands out the next chunk for blocks, including those that Take leaves.
func (p *Pool) TakeForBlocks() (idx int64, lost format.Loss) {
	if idx, lost = p.take(0, 0); lost == 0 {
		at, _ := p.lay.place(idx)
		p.hasBlocks(idx, at)
	}
	return idx, lost
}

// hasBlocks notes that a chunk was handed out for blocks: where the file is a copy, blocks are
// written to it no later than the contents of other chunks.
func (p *Pool) hasBlocks(idx, at int64) {
	if p.copies != nil {
		p.copies.hasBlocks(idx, at)
	}
}

// TakeKept hands out a chunk for blocks that are never overwritten.
func (p *Pool) TakeKept() (idx int64, lost format.Loss) {
	if p.again == nil {
		return p.TakeForBlocks()
	}
	return p.again.takeKept()
}

// Spacious reports whether there is more room than records and most blocks need: numerous blocks
// must not be written otherwise. If only the window is short, there may be more room in some
// milliseconds.
func (p *Pool) Spacious() bool {
	n := p.next.Load() &^ noRecords
	if p.limit > 0 && n >= p.limit-p.spare {
		return false
	}
	if n >= p.end.Load()-p.keep {
		p.poke()
		return false
	}
	return true
}

func (p *Pool) take(keep, spare int64) (int64, format.Loss) {
	for {
		// Read before taking: an add that went too far could not be undone.
		old, end := p.next.Load(), p.end.Load()
		n := old &^ noRecords
		if keep > 0 {
			if n != old {
				return 0, format.LossStop
			}
			if why := p.Dry(); why != 0 {
				return 0, why
			}
		}
		if n >= end-keep || p.limit > 0 && n >= p.limit-spare {
			if idx, why := p.none(keep, spare); idx != 0 || why != 0 {
				return idx, why
			}
			continue
		}
		if !p.next.CompareAndSwap(old, old+1) {
			continue
		}
		left := end - n - 1
		for low := p.low.Load(); left < low && !p.low.CompareAndSwap(low, left); low = p.low.Load() {
		}
		if n >= p.half.Load() || n%wakeEvery == 0 {
			p.poke()
		}
		if idx, ok := p.lay.taken(n); ok {
			return idx, 0
		}
	}
}

// none serves a caller that finds no chunk: it prepares one where that needs no disk, else it
// returns the reason; 0 and 0 if there is one by now. For records it stores the reason: later
// callers do not try again, nor wake the flusher again. Close waits for the callers in here, since
// values they store, or map, would be in the next pool.
func (p *Pool) none(keep, spare int64) (idx int64, why format.Loss) {
	p.askers.Add(1)
	idx, why = p.lack(keep, spare)
	p.askers.Add(-1)
	return idx, why
}

func (p *Pool) lack(keep, spare int64) (idx int64, lost format.Loss) {
	bump, end := p.next.Load(), p.end.Load()
	n, why := bump&^noRecords, format.Loss(p.reason.Load())
	switch {
	case keep > 0 && n != bump:
		return 0, format.LossStop
	case p.limit > 0 && n >= p.limit-spare:
		why = format.LossLimit
	case n < end-keep:
		return 0, 0
	case why == format.LossWindow:
		if idx, why = p.lay.make(spare); why == 0 {
			if keep > 0 && p.next.Load()&noRecords != 0 || p.end.Load() < 0 {
				return 0, format.LossStop // no goroutine would write its header
			}
			return idx, 0
		}
	}
	if keep > 0 {
		p.dry.Store(uint32(why))
		if now := p.reason.Load(); why == format.LossWindow && format.Loss(now) != why {
			p.dry.Store(now) // another reason by then: see atDisk
		}
		if p.end.Load() != end { // the goroutine that moved the end may have read dry before
			p.dry.Store(0)
			return 0, 0
		}
	}
	if why != format.LossLimit {
		p.poke()
	}
	return 0, why
}

// Dry returns the reason why records get no chunk, if it is known; 0: call Take to find out.
func (b *bump) Dry() format.Loss { return format.Loss(b.dry.Load()) }

// Short reports whether records get no chunk because the flusher has prepared none.
func (b *bump) Short() bool {
	why := b.Dry()
	return why != 0 && why != format.LossLimit
}

// Bump returns the number of chunks handed out, the file header included.
func (b *bump) Bump() int64 { return max(b.next.Load()&^noRecords, b.top.Load()) }

// Low returns the smallest remainder of the window so far, in bytes.
func (b *bump) Low() int64 { return max(0, b.low.Load()) * ChunkSize }

// Full returns why the window is not being extended; 0 if it is.
func (b *bump) Full() format.Loss {
	if r := format.Loss(b.reason.Load()); r != format.LossWindow {
		return r
	}
	if b.limit > 0 && b.Bump() >= b.limit-b.spare {
		return format.LossLimit
	}
	return 0
}

// Made returns how many chunks their takers prepared.
func (b *bump) Made() int64 { return b.made.Load() }

// Rest hands out the chunks that were prepared, not taken, and lie before one that its taker
// prepared, so that Live includes them, and deletes files that are due. Records are shut and the
// flusher has stopped by then.
func (p *Pool) Rest() {
	for p.askers.Load() != 0 {
		runtime.Gosched()
	}
	for idx := range p.top.Load() {
		atomic.CompareAndSwapUint32(&p.states[idx], prepared, handed)
	}
	p.tidy()
}

// ready moves the window's end to end: callers that found no chunk may find one now.
func (b *bump) ready(end int64) {
	b.end.Store(end)
	b.dry.Store(0)
}

// ShutRecords makes every later Take fail; blocks still get chunks.
func (b *bump) ShutRecords() { b.next.Or(noRecords) }

// Shut makes every later Take fail, also for blocks.
func (b *bump) Shut() {
	b.reason.Store(uint32(format.LossStop))
	b.ready(math.MinInt64 / 2)
}
