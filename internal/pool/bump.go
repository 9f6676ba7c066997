package pool

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// bump says who gets the next chunk.
type bump struct {
	next   atomic.Int64 // chunk; with noRecords when records get no more
	end    atomic.Int64 // chunks prepared; records may take end - keepForBlocks
	half   atomic.Int64 // a bump that crosses it wakes the flusher
	low    atomic.Int64 // least distance of bump and end so far
	reason atomic.Uint32
	dry    *atomic.Uint32 // why Take has nothing, which is not asked again before there is more; 0: ask
	askers atomic.Int64   // who is in none
	top    atomic.Int64   // one more than the last chunk that who needed it prepared
	made   atomic.Int64   // how many these are
	limit  int64          // chunks; 0: none
	spare  int64          // of the limit, for blocks
	wake   chan struct{}
}

// keepForBlocks are the chunks at the window's end that only blocks may take:
// a window that the records ran out of still has room to say so.
const keepForBlocks = 2

// keepForRecords are those at the window's end that are left where blocks may be many:
// those can wait where they come from, and records can't.
const keepForRecords = 16

// noRecords in the bump makes every later Take fail, also one that has looked
// and not yet taken: a chunk that is taken when the recording ends would have
// nobody to write its header.
const noRecords = 1 << 62

// wakeEvery is after how many chunks the flusher is woken in any case, so that
// what waits to be written out stays small.
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

// Wake is signalled when the bump has used half of the window, or 16 MiB.
func (b *bump) Wake() <-chan struct{} { return b.wake }

// Alert has it signalled when the next chunk is taken, until Extend is called.
func (b *bump) Alert() { b.half.Store(0) }

func (b *bump) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Take hands out the next chunk for records. Where there is none it returns
// the reason; it never waits. idx is the chunk's number, which tells its address;
// Place tells where in the file it is.
func (p *Pool) Take() (idx int64, lost format.Loss) {
	return p.take(keepForBlocks, p.spare)
}

// TakeForBlocks hands out the next chunk for blocks, from what Take leaves.
func (p *Pool) TakeForBlocks() (idx int64, lost format.Loss) {
	if idx, lost = p.take(0, 0); lost == 0 {
		at, _ := p.lay.place(idx)
		p.hasBlocks(idx, at)
	}
	return idx, lost
}

// hasBlocks notes that a chunk was handed out for blocks: the file, where it is a copy, has
// these no later than what is in other chunks.
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

// Spacious reports whether there is more room than records and most blocks are to find:
// blocks of which there may be many are not to be written without. Where it is the
// window that is short, there may be more in some milliseconds.
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
		// Look before taking: an add that went too far could not be undone.
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

// none is for who finds no chunk: it prepares one where that takes no disk, else it says
// why there is none; 0 and 0 where there is one by now. For records it is noted: who comes
// next does not ask, nor wakes the flusher again. Close waits for those who are in here,
// since what they note, or map, would be in the next pool.
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
				return 0, format.LossStop // nobody would write its header
			}
			return idx, 0
		}
	}
	if keep > 0 {
		p.dry.Store(uint32(why))
		if now := p.reason.Load(); why == format.LossWindow && format.Loss(now) != why {
			p.dry.Store(now) // it was another by then: see atDisk
		}
		if p.end.Load() != end { // who made it more may have looked before
			p.dry.Store(0)
			return 0, 0
		}
	}
	if why != format.LossLimit {
		p.poke()
	}
	return 0, why
}

// Dry says why records get no chunk, as long as that is known; 0: Take will tell.
func (b *bump) Dry() format.Loss { return format.Loss(b.dry.Load()) }

// Short reports whether records get no chunk for want of what the flusher makes.
func (b *bump) Short() bool {
	why := b.Dry()
	return why != 0 && why != format.LossLimit
}

// Bump is the number of chunks handed out, the file header included.
func (b *bump) Bump() int64 { return max(b.next.Load()&^noRecords, b.top.Load()) }

// Low is the least that was left of the window so far, in bytes.
func (b *bump) Low() int64 { return max(0, b.low.Load()) * ChunkSize }

// Full says why the window is not being extended; 0 if it is.
func (b *bump) Full() format.Loss {
	if r := format.Loss(b.reason.Load()); r != format.LossWindow {
		return r
	}
	if b.limit > 0 && b.Bump() >= b.limit-b.spare {
		return format.LossLimit
	}
	return 0
}

// Made is how many chunks were prepared by who needed them.
func (b *bump) Made() int64 { return b.made.Load() }

// Rest hands out what was prepared and not taken before a chunk that was made, so that
// Live has it, and deletes what is to be. Records have been shut, and the flusher has stopped.
func (p *Pool) Rest() {
	for p.askers.Load() != 0 {
		runtime.Gosched()
	}
	for idx := range p.top.Load() {
		atomic.CompareAndSwapUint32(&p.states[idx], prepared, handed)
	}
	p.tidy()
}

// ready makes end the window's: there may be chunks for who found none.
func (b *bump) ready(end int64) {
	b.end.Store(end)
	b.dry.Store(0)
}

// ShutRecords makes every later Take fail; blocks still get chunks.
func (b *bump) ShutRecords() { b.next.Or(noRecords) }

// Shut makes every later Take fail, that for blocks too.
func (b *bump) Shut() {
	b.reason.Store(uint32(format.LossStop))
	b.ready(math.MinInt64 / 2)
}
