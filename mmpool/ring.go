package mmpool

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// # Rings
//
// A ring's chunks are used again, those first whose content has been in the file
// longest. What does not change is that a number is an address: the chunk that
// is handed out as number n lies n × 64 KiB behind the pool's base, wherever in
// the file its place is. So each use of a place is at an address of its own, and
// a writer that is late with a store (the system took it off the CPU between
// looking at a chunk's state and storing) finds, where the chunk was, memory that
// nobody reads. Were addresses used again with their places, its store would be
// in somebody else's record, or reuse would need to wait for every thread.
//
// Numbers begin again at 1 when there are no more: after at least 64 GiB where
// stores can be late, and where an end is a compare-and-swap that fails on what
// is not its own (the Go path) after four rounds. A chunk may still be open then,
// because its owner is idle: its number is left out.
//
// What must not be overwritten lies in kept chunks, which have numbers of their
// own, behind all others.

// maxKeptChunks is how many kept chunks there can be: 256 MiB.
const maxKeptChunks = 1 << 12

// minLap is after how many chunks addresses may be used again where stores can
// be late.
const minLap = 64 << 30 / ChunkSize

// maxUnits bounds how many mappings a ring's places may fall into: the kernel
// gives a process 65,530, and the program needs some too.
const maxUnits = 1 << 13

// keptAhead is how many kept chunks are prepared at once.
const keptAhead = 4

// ring is what a pool has whose chunks are used again.
type ring struct {
	want int64 // chunks it may have
	all  int64 // places that they may be at
	lap  int64 // the largest number
	unit int64 // neighbours that are used again together

	// The worker who takes a chunk finds its place here, by number: the number
	// (40-63), the place (16-39) and the lap; 0 where the number is left out. An
	// entry is stored before the window's end goes past it.
	ready []atomic.Uint64

	mu     sync.Mutex
	places map[int64]place // of the chunks that the file has, by number
	have   int64           // places that are the ring's
	size   int64           // places that the file has, chunk 0 included
	used   int64           // those up to the last one that was handed out
	gone   []*unit         // to be used next, in this order

	kept     int64   // of the kept chunks that were handed out
	spare    []int64 // numbers of those that are prepared
	nextKept int64
	seen     int64 // what Fresh has told
	fresh    []int64

	overwrite func(numbers []int64)

	held bool // the last time that the window was made whole, something was in the way
}

// unit is places that are used again together: one, but in large rings.
type unit struct {
	at   int64   // the first one
	left int64   // chunks in there that are not gone yet
	nums []int64 // what they are called now
}

type place struct {
	at int64
	n  int64 // of the hand-out, from 1 on
	u  *unit // nil: kept
}

// Ring has a pool use its chunks again and again.
type Ring struct {
	bytes     int64
	overwrite func(numbers []int64)
	make      func(o *Options, span int64) (*ring, error)
	prepare   func(p *Pool) error
}

// RingOf is a ring of so many bytes. overwrite, if it is not nil, is called with the
// numbers of chunks that will be overwritten now; blocks may still be written. Only who
// calls RingOf has in the program what a ring takes.
func RingOf(bytes int64, overwrite func(numbers []int64)) Ring {
	return Ring{bytes, overwrite, newRing, (*Pool).prepareRing}
}

func newRing(o *Options, span int64) (*ring, error) {
	n := o.Ring.bytes / ChunkSize
	r := &ring{want: n, size: 1, used: 1, seen: 1, places: map[int64]place{}, overwrite: o.Ring.overwrite}
	r.unit = (n + maxUnits - 1) / maxUnits
	if f := o.Files; f != nil {
		parts, chunks, most := f.shape()
		n, r.want, r.unit = parts*chunks, most*chunks, 1
		r.size, r.used = f.place(1), f.place(1)
	}
	r.want -= r.want % r.unit
	r.all = max(r.want, n-n%r.unit)
	r.lap = 4 * n
	if o.States != nil {
		// Stores can be late; see above.
		r.lap = max(r.lap, minLap)
	}
	if o.lap > 0 {
		r.lap = o.lap
	}
	r.lap = min(r.lap, format.RingNumbers, span-maxKeptChunks-1)
	r.lap -= r.lap % r.unit
	if r.lap < 2*n {
		return nil, fmt.Errorf("a ring of %d bytes: only %d bytes of addresses: %w", o.Ring.bytes, span*ChunkSize, ErrNoSpace)
	}
	size := int64(1)
	for size < 2*n {
		size *= 2
	}
	r.ready = make([]atomic.Uint64, size)
	r.nextKept = r.lap + 1
	return r, nil
}

// number is what the chunk is called that is handed out as the n-th.
func (r *ring) number(n int64) int64 { return 1 + (n-1)%r.lap }

// Place is where in the file, in chunks, the chunk is that Take or TakeForBlocks
// has just handed out as number idx, and how often numbers began again.
func (p *Pool) Place(idx int64) (at int64, lap uint32) {
	r := p.ring
	if r == nil || idx == 0 {
		return idx, 1
	}
	if idx <= r.lap {
		if v := r.ready[idx&int64(len(r.ready)-1)].Load(); int64(v>>40) == idx {
			return int64(v >> 16 & (1<<24 - 1)), uint32(v & (1<<16 - 1))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pl := r.places[idx]
	return pl.at, r.turn(pl.n)
}

// turn is the lap of the n-th chunk, from 1 on.
func (r *ring) turn(n int64) uint32 { return uint32((n-1)/r.lap + 1) }

// taken is the number of the n-th chunk, which was taken; ok is false where it was
// left out.
func (r *ring) taken(n int64) (idx int64, ok bool) {
	idx = r.number(n)
	return idx, int64(r.ready[idx&int64(len(r.ready)-1)].Load()>>40) == idx
}

// placeOf is where in the file a chunk is that the file has, -1 if it has not.
func (p *Pool) placeOf(idx int64) int64 {
	r := p.ring
	if r == nil || idx == 0 {
		return idx
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if pl, ok := r.places[idx]; ok {
		return pl.at
	}
	return -1
}

// Kept tells whether a number is that of a kept chunk.
func (p *Pool) Kept(idx int64) bool { return p.ring != nil && idx > p.ring.lap }

// Ring is at how many places chunks are used again; 0: the pool is no ring.
func (p *Pool) Ring() int64 {
	if p.ring == nil {
		return 0
	}
	return p.ring.all
}

// Holds tells whether a chunk that is still open keeps its file from being finished.
func (p *Pool) Holds(idx int64) bool {
	return p.files != nil && p.files.old(p.placeOf(idx))
}

// Held tells whether reuse was held up, maybe by chunks that are open, when Extend was
// called last: it is to be asked by who calls that.
func (p *Pool) Held() bool { return p.ring != nil && p.ring.held }

// Segments is in how many equal parts the ring lies, each in a file of its own if
// there is one; 0: it is all in the pool's file.
func (p *Pool) Segments() int {
	if p.files == nil {
		return 0
	}
	parts, _, _ := p.files.shape()
	return int(parts)
}

// TakeKept hands out a chunk for blocks that are never overwritten.
func (p *Pool) TakeKept() (idx int64, lost format.Loss) {
	r := p.ring
	if r == nil {
		return p.TakeForBlocks()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.spare) == 0 || p.end.Load() < 0 {
		p.poke()
		return 0, format.Loss(p.reason.Load())
	}
	idx, r.spare = r.spare[0], r.spare[1:]
	if len(r.spare) <= keptAhead/2 {
		p.poke()
	}
	r.kept++
	r.used = max(r.used, r.places[idx].at+1)
	r.fresh = append(r.fresh, idx)
	if p.copier != nil {
		p.copier.hasBlocks(idx, r.places[idx].at)
	}
	return idx, 0
}

// Fresh appends the chunks that were handed out since it was last called.
func (p *Pool) Fresh(dst []int64) []int64 {
	r := p.ring
	if r == nil {
		for bump := p.Bump(); p.seen < bump; p.seen++ {
			dst = append(dst, p.seen)
		}
		return dst
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.advance()
	dst = append(dst, r.fresh...)
	r.fresh = r.fresh[:0]
	return dst
}

// advance takes note of the chunks that were handed out. r.mu is held.
func (p *Pool) advance() {
	r := p.ring
	for bump := p.Bump(); r.seen < bump; r.seen++ {
		idx := r.number(r.seen)
		if pl := r.places[idx]; pl.n == r.seen {
			r.used = max(r.used, pl.at+1)
			r.fresh = append(r.fresh, idx)
		}
	}
}

// Live appends the chunks that were handed out and not overwritten since.
func (p *Pool) Live(dst []int64) []int64 {
	r := p.ring
	if r == nil {
		for idx := int64(1); idx < p.Bump(); idx++ {
			if w := atomic.LoadUint32(&p.states[idx]); !p.owned() || w&0xff != Free || w == handed {
				dst = append(dst, idx)
			}
		}
		return dst
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	bump := p.Bump()
	for idx, pl := range r.places {
		if pl.n < bump && !slices.Contains(r.spare, idx) {
			dst = append(dst, idx)
		}
	}
	return dst
}

// Retire says that a chunk is gone: its place may be used again.
func (p *Pool) Retire(idx int64) {
	r := p.ring
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if u := r.places[idx].u; u != nil {
		if u.left--; u.left == 0 && p.files == nil {
			r.gone = append(r.gone, u)
		}
	}
}
