package pool

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// # Rings
//
// A ring's chunks are reused, those first whose contents have been in the file longest. A number
// stays an address: the chunk that is handed out as number n lies n × 64 KiB behind the pool's
// base, wherever its place in the file is. So each use of a place has an address of its own, and a
// late store of a writer (the system took it off the CPU between reading a chunk's state and
// storing) hits, where the chunk was, memory that is not read. If addresses were reused with their
// places, the store would hit another goroutine's record, or reuse would need to wait for every
// thread.
//
// Numbers begin again at 1 when they are used up: after at least 64 GiB where stores can be late,
// and after four rounds where an end is a compare-and-swap that fails on another record (the Go
// path). A chunk may still be open then, because its owner is idle: its number is left out.
//
// Blocks that must not be overwritten lie in kept chunks, which have numbers of their own, behind
// all others.

// maxKeptChunks is the largest number of kept chunks: 256 MiB.
const maxKeptChunks = 1 << 12

// minLap is the number of chunks after which addresses may be reused where stores can be late.
const minLap = 64 << 30 / ChunkSize

// maxLots bounds the number of mappings of a ring's places: the kernel gives a process 65,530, and
// the program needs some too.
const maxLots = 1 << 13

// keptAhead is the number of kept chunks that are prepared at once.
const keptAhead = 4

// ring is a placement that reuses places.
type ring struct {
	p       *Pool
	want    int64 // chunks it may have
	all     int64 // places they may be at
	lap     int64 // the largest number
	lotSize int64 // neighbours that are reused together

	// A worker that takes a chunk finds its place here, by number: the number (40-63), the place
	// (16-39) and the lap; 0 where the number is left out. An entry is stored before the window's
	// end passes it.
	ready []atomic.Uint64

	// None of the large tables has pointers: the collector would scan them in each of its cycles.
	mu     sync.Mutex
	places map[int64]place // of the chunks that the file has, by number
	names  []int64         // by place: its number, present or last; 0: none
	lots   []lot           // the first is unused
	have   int64           // places of the ring
	total  int64           // places of the file, chunk 0 included
	used   int64           // places up to the last one handed out
	gone   []int           // lots to reuse next, in this order
	empty  []int           // lots to reuse before these: their chunks were evicted

	kept     int64   // kept chunks handed out
	spare    []int64 // numbers of prepared kept chunks
	nextKept int64
	seen     int64 // chunks that advance has noted
	fresh    []int64

	overwrite func(numbers []int64)

	// Set when the window was last extended.
	held  bool  // a chunk was in the way
	grown error // why the file did not grow
}

// lot is places that are reused together: one, except in large rings.
type lot struct {
	at   int64 // the first place
	left int64 // chunks in it that are not gone yet
}

type place struct {
	at  int64
	n   int64 // order of hand-out, from 1 on
	lot int   // 0: kept
}

// A Ring makes a pool reuse its chunks.
type Ring struct {
	bytes     int64
	overwrite func(numbers []int64)
	make      func(p *Pool, o *Options) (placement, error)
}

// RingOf returns a ring of so many bytes. overwrite, if not nil, is called with the numbers of
// chunks that are about to be overwritten; blocks may still be written. Only programs that call
// RingOf contain the code of a ring.
func RingOf(bytes int64, overwrite func(numbers []int64)) Ring {
	if overwrite == nil {
		overwrite = func([]int64) {}
	}
	return Ring{bytes, overwrite, makeRing}
}

// RingAddresses returns how many bytes of addresses a ring of at most so many bytes wants.
func RingAddresses(bytes int64) int64 {
	return max(4*bytes, minLap*ChunkSize) + (maxKeptChunks+1)*ChunkSize
}

func makeRing(p *Pool, o *Options) (placement, error) {
	numbers := int64(1 << 24)
	if a := p.addresses; a != nil {
		numbers = min(a.Size(), cmp.Or(o.Addresses, MaxAddresses)) / ChunkSize
	}
	r, err := newRing(o, numbers)
	if err != nil {
		return nil, err
	}
	r.p = p
	var create createFile
	if o.Files != nil {
		create = o.Files.create
	}
	if p.copies != nil {
		p.copies.follow(r.placeOf, r.lotSize == 1, create)
	}
	p.shape = shape{
		numbers: r.lap + maxKeptChunks + 1, last: math.MaxInt64, firstKept: r.lap + 1,
		most:    min(maxWindow, r.want/4),                           // a prepared chunk holds no records
		keep:    min(keepForRecords, max(keepForBlocks, r.want/16)), // a quarter of the window
		lotSize: r.lotSize, ring: r.all,
	}
	if p.again = r; o.Files != nil {
		p.again = o.Files.over(r)
	}
	return p.again, nil
}

func newRing(o *Options, numbers int64) (*ring, error) {
	n := o.Ring.bytes / ChunkSize
	r := &ring{want: n, total: 1, used: 1, seen: 1, places: map[int64]place{}, lots: make([]lot, 1), overwrite: o.Ring.overwrite}
	r.lotSize = max((n+maxLots-1)/maxLots, o.lot)
	if f := o.Files; f != nil {
		parts, chunks, most := f.sizes()
		n, r.want, r.lotSize = parts*chunks, most*chunks, 1
		r.total, r.used = 1+n, 1+n
	}
	r.want -= r.want % r.lotSize
	r.all = max(r.want, n-n%r.lotSize)
	r.lap = 4 * n
	if o.States != nil {
		// Stores can be late; see above.
		r.lap = max(r.lap, minLap)
	}
	if o.lap > 0 {
		r.lap = o.lap
	}
	r.lap = min(r.lap, format.RingNumbers, numbers-maxKeptChunks-1)
	r.lap -= r.lap % r.lotSize
	if r.lap < 2*n {
		return nil, fmt.Errorf("a ring of %d bytes: only %d bytes of addresses: %w", o.Ring.bytes, numbers*ChunkSize, ErrNoSpace)
	}
	size := int64(1)
	for size < 2*n {
		size *= 2
	}
	r.ready = sys.OffHeap[atomic.Uint64](r, int(size))
	r.nextKept = r.lap + 1
	return r, nil
}

// number returns the number of the chunk that is handed out as the n-th.
func (r *ring) number(n int64) int64 { return 1 + (n-1)%r.lap }

// entry returns the entry of a number in ready.
func (r *ring) entry(idx int64) uint64 {
	v := r.ready[idx&int64(len(r.ready)-1)].Load()
	runtime.KeepAlive(r)
	return v
}

func (r *ring) setEntry(idx int64, v uint64) {
	r.ready[idx&int64(len(r.ready)-1)].Store(v)
	runtime.KeepAlive(r)
}

func (r *ring) place(idx int64) (at int64, lap uint32) {
	if idx == 0 {
		return 0, 1
	}
	if idx <= r.lap {
		if v := r.entry(idx); int64(v>>40) == idx {
			return int64(v >> 16 & (1<<24 - 1)), uint32(v & (1<<16 - 1))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pl := r.places[idx]
	return pl.at, r.turn(pl.n)
}

// turn returns the lap of the n-th chunk, from 1 on.
func (r *ring) turn(n int64) uint32 { return uint32((n-1)/r.lap + 1) }

func (r *ring) taken(n int64) (idx int64, ok bool) {
	idx = r.number(n)
	return idx, int64(r.entry(idx)>>40) == idx // else it was left out
}

func (r *ring) make(int64) (int64, format.Loss) { return 0, format.LossWindow }

// placeOf returns the place of a chunk that the file has, -1 if it has not.
func (r *ring) placeOf(idx int64) int64 {
	if idx == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if pl, ok := r.places[idx]; ok {
		return pl.at
	}
	return -1
}

func (r *ring) tidy()               {}
func (r *ring) discard()            {}
func (r *ring) relieve(error) error { return nil }
func (r *ring) from() int64         { return r.p.end.Load() }
func (r *ring) holds(int64) bool    { return false }
func (r *ring) reserved() int64     { return r.total }

// inTheWay returns nil for few chunks: in a ring they are in the way by their number alone, which
// is left out.
func (r *ring) inTheWay(open []int64) []int64 {
	if !r.held || int64(len(open)) < r.all/2 {
		return nil
	}
	return open
}

func (r *ring) takeKept() (idx int64, lost format.Loss) {
	p := r.p
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
	at := r.places[idx].at
	r.used = max(r.used, at+1)
	r.fresh = append(r.fresh, idx)
	p.hasBlocks(idx, at)
	return idx, 0
}

func (r *ring) appendFresh(dst []int64) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance()
	dst = append(dst, r.fresh...)
	r.fresh = r.fresh[:0]
	return dst
}

// advance notes the chunks that were handed out. r.mu is held.
func (r *ring) advance() {
	for bump := r.p.Bump(); r.seen < bump; r.seen++ {
		idx := r.number(r.seen)
		if pl := r.places[idx]; pl.n == r.seen {
			r.used = max(r.used, pl.at+1)
			r.fresh = append(r.fresh, idx)
		}
	}
}

func (r *ring) appendLive(dst []int64) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	bump := r.p.Bump()
	for idx, pl := range r.places {
		if pl.n < bump && !slices.Contains(r.spare, idx) {
			dst = append(dst, idx)
		}
	}
	return dst
}

func (r *ring) retire(idx int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.places[idx].lot; l > 0 {
		if r.lots[l].left--; r.lots[l].left == 0 {
			r.gone = append(r.gone, l)
		}
	}
}

func (r *ring) size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance()
	return r.used
}

func (r *ring) extents(from, to int64) []extent { return r.extentsIn(from, to, math.MaxInt64) }

// extentsIn returns the extents of the chunks [from, to), where each file holds so many places,
// from place 1 on.
func (r *ring) extentsIn(from, to, file int64) (s []extent) {
	for idx := from; idx < to; idx++ {
		at := r.placeOf(idx)
		if at < 0 {
			continue
		}
		if n := len(s); n > 0 && s[n-1].idx+s[n-1].n == idx && s[n-1].at+s[n-1].n == at && (at-1)%file != 0 {
			s[n-1].n++
		} else {
			s = append(s, extent{idx, at, 1})
		}
	}
	return s
}

func (r *ring) ahead(from, to int64) []run {
	a, b := r.number(from), r.number(to-1)
	if a <= b {
		return []run{{a, b + 1 - a}}
	}
	return []run{{a, r.lap + 1 - a}, {1, b}}
}

func (r *ring) close() (own int64, err error) {
	r.p.forget(0, min(r.p.Bump(), r.lap+1))
	r.p.forget(r.lap+1, r.nextKept)
	return r.size(), nil
}
