//go:build !scope_off

package scope

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/mmpool"
)

// The Go path writes the same records without assembly: on other processors,
// Go versions that were not tested, and the heap. CPU times are unknown here.
//
// A goroutine reserves its place in the chunk of a stripe by one atomic add,
// stores its record, and counts itself done by a second one, by which Stop
// knows when nobody is about to store any more. An end is one compare-and-swap
// of a word that no other record ever has (its start, marked open): in a
// recording that has ended, or in the next one, it fails and harms nobody.

// stripe is a chunk that some goroutines share, those whose ids fall on it.
type stripe struct {
	// place is the chunk's number (32-62) and the units reserved in it (0-31),
	// more than it has where it is full; bit 63: no more reservations.
	place atomic.Uint64
	mu    sync.Mutex // held to take another chunk
	_     [112]byte
}

const (
	stripeCount = 64
	stripeShut  = 1 << 63
	openBit     = 1 << 63
	apartBit    = 1 << 62
	chunkUnits  = mmpool.ChunkSize / format.RecordSize
	headUnits   = format.ChunkHeaderSize / format.RecordSize
)

// progress counts what was written in a chunk.
type progress struct {
	done   atomic.Uint64 // units written (0-31), records that count (32-63)
	sealed atomic.Uint64 // units reserved when it was sealed; 0: it is open
}

// progressTable has the progress of every chunk, in pages made when needed.
type progressTable [1 << 12]atomic.Pointer[[1 << 12]progress]

func (t *progressTable) at(idx int64) *progress {
	page := t[idx>>12].Load()
	if page == nil {
		return nil
	}
	return &page[idx&(1<<12-1)]
}

func (t *progressTable) make(idx int64) *progress {
	if p := &t[idx>>12]; p.Load() == nil {
		p.CompareAndSwap(nil, new([1 << 12]progress))
	}
	return t.at(idx)
}

// goBegin begins a scope.
func (r *recorder) goBegin(head uint64, x *encoder) handle {
	goid := r.goids.Get()
	loc, w, why := r.reserve(goid, x)
	if why != 0 {
		r.lose(why)
		return handle{}
	}
	start := r.clock.Now()
	fill(w, x, start, uint64(start)|openBit, head|goid&format.MaxGoid, 0)
	r.progress.at(loc / mmpool.ChunkSize).done.Add(uint64(len(w)/4) | 1<<32)
	return handle{Loc: loc, Start: start}
}

// goPut writes a complete record.
func (r *recorder) goPut(rec *[4]uint64, x *encoder, count int64) bool {
	goid := r.goids.Get()
	loc, w, why := r.reserve(goid, x)
	if why != 0 {
		r.losePut(why, count)
		return false
	}
	idx := loc / mmpool.ChunkSize
	at := int64(rec[0])
	if at == 0 {
		at = r.clock.Now()
	}
	if count == 0 {
		atomic.OrUint64(&r.pool.Words(idx)[format.ChunkFlagsOffset/8], format.FlagEnds<<32)
	}
	fill(w, x, at, rec[1], rec[2]|goid&format.MaxGoid, rec[3])
	r.progress.at(idx).done.Add(uint64(len(w)/4) | uint64(count)<<32)
	return true
}

// fill stores a record: its extension's header, what follows that, the words,
// and its start last, so that a reader that sees it sees all.
func fill(w []uint64, x *encoder, start int64, stop, head, cpu uint64) {
	if x != nil {
		head |= format.ExtBit
		for i := range x.n {
			setWord(&w[4+i], x.w[i])
		}
	}
	setWord(&w[1], stop)
	setWord(&w[2], head)
	setWord(&w[3], cpu)
	atomic.StoreUint64(&w[0], uint64(start))
}

// reserve finds room for a record in the chunk of the goroutine's stripe, or
// says why there is none.
func (r *recorder) reserve(goid uint64, x *encoder) (loc int64, w []uint64, why format.Loss) {
	n := uint64(1)
	if x != nil {
		n += uint64(x.units())
	}
	s := &r.stripes[goid%stripeCount]
	for {
		v := s.place.Add(n)
		if v&stripeShut != 0 {
			return 0, nil, format.LossStop
		}
		idx, used := int64(v>>32), v&(1<<32-1)
		if used <= chunkUnits {
			at := used - n
			return idx*mmpool.ChunkSize + int64(at)*format.RecordSize, r.pool.Words(idx)[4*at : 4*used], 0
		}
		if idx != 0 && used-n <= chunkUnits {
			// Exactly one reservation crosses the chunk's end: this one.
			r.sealChunk(idx, used-n)
		}
		if why := r.refill(s, goid%stripeCount, idx); why != 0 {
			return 0, nil, why
		}
	}
}

// refill gives a stripe another chunk than old, if it does not have one yet.
func (r *recorder) refill(s *stripe, number uint64, old int64) format.Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.place.Load()
	if v&stripeShut != 0 {
		return format.LossStop
	}
	if int64(v>>32) != old {
		return 0
	}
	full := func(v uint64) { // without it the count would run over in the end
		s.place.CompareAndSwap(v, uint64(old)<<32|(chunkUnits+1))
	}
	idx, why := r.pool.Take()
	if why != 0 {
		full(v)
		return why
	}
	path := format.PathGo
	if !r.goids.Fast() || !r.clock.Counter() {
		path = format.PathPure
	}
	h := r.chunkHeader(format.ChunkRecords, path, idx)
	h[1] |= number << 32
	storeHeader(r.pool.Words(idx), h)
	r.progress.make(idx).done.Store(headUnits)
	r.pool.SetState(idx, mmpool.Open)
	for {
		v := s.place.Load()
		if v&stripeShut != 0 {
			r.sealChunk(idx, headUnits)
			return format.LossStop
		}
		if s.place.CompareAndSwap(v, uint64(idx)<<32|headUnits) {
			return 0
		}
	}
}

// storeHeader stores a chunk header, its magic last.
func storeHeader(w []uint64, h *[8]uint64) {
	for i := 1; i < len(h); i++ {
		setWord(&w[i], h[i])
	}
	atomic.StoreUint64(&w[0], h[0])
}

// sealChunk says how much of a chunk was reserved: that, and no more, will be
// written.
func (r *recorder) sealChunk(idx int64, units uint64) {
	atomic.StoreUint64(&r.pool.Words(idx)[format.ChunkSealedOffset/8], units*format.RecordSize)
	r.progress.make(idx).sealed.Store(units)
	r.pool.SetState(idx, mmpool.Sealed)
}

// whole tells whether everything that was reserved in a sealed chunk has been
// written.
func (r *recorder) whole(idx int64) bool {
	p := r.progress.at(idx)
	if p == nil || p.done.Load() == 0 {
		return true // not a chunk of the Go path
	}
	s := p.sealed.Load()
	return s != 0 && p.done.Load()&(1<<32-1) >= s
}

// goEnd ends a scope in place, or apart where its chunk may have been written
// out, where another goroutine ends it, or where there is more to tell.
func (r *recorder) goEnd(h handle, at int64, x *encoder) {
	if at == 0 {
		at = r.clock.Now()
	}
	if h.Start < r.began {
		r.staleEnds.Add(1)
		return
	}
	idx, unit := h.Loc/mmpool.ChunkSize, h.Loc%mmpool.ChunkSize/format.RecordSize
	state := r.pool.State(idx)
	w := r.pool.Words(idx)
	if state == mmpool.Free {
		r.staleEnds.Add(1)
		return
	}
	if state > mmpool.Sealed || w == nil {
		r.endApart(h, at, 0, x)
		return
	}
	w = w[4*unit : 4*unit+4]
	if atomic.LoadUint64(&w[0]) != uint64(h.Start) {
		r.staleEnds.Add(1)
		return
	}
	open := uint64(h.Start) | openBit
	foreign := r.goids.Get()&format.MaxGoid != atomic.LoadUint64(&w[2])&format.MaxGoid
	if foreign || x != nil {
		if !atomic.CompareAndSwapUint64(&w[1], open, open|apartBit) {
			r.doubleEnds.Add(1)
			return
		}
		if foreign {
			r.foreignEnds.Add(1)
			r.endForeign(h, at, atomic.LoadUint64(&w[2])&format.MaxGoid, x)
			return
		}
		x.w[2] = r.goids.Get() & format.MaxGoid // the same that began
		r.endApart(h, at, 0, x)
		return
	}
	if !atomic.CompareAndSwapUint64(&w[1], open, uint64(at)) {
		r.doubleEnds.Add(1)
		return
	}
	if r.pool.Heap() && r.pool.State(idx) > mmpool.Sealed {
		// The chunk began to leave while we wrote: its copy may lack the end.
		r.lateEnds.Add(1)
		r.endApart(h, at, 0, nil)
	}
}

// goStop lets no more records begin and waits until those that have begun are
// written. It gives up after a second, which only a goroutine that the system
// does not run can cause.
func (r *recorder) goStop() {
	for i := range r.stripes {
		v := r.stripes[i].place.Or(stripeShut)
		if idx, used := int64(v&^stripeShut>>32), v&(1<<32-1); idx != 0 && used <= chunkUnits {
			r.sealChunk(idx, used)
		}
	}
	deadline := time.Now().Add(time.Second)
	for idx := range r.pool.Bump() {
		for !r.whole(idx) && time.Now().Before(deadline) {
			runtime.Gosched()
		}
	}
}

// goCount is the number of records written.
func (r *recorder) goCount() (n int64) {
	if r.progress == nil {
		return 0
	}
	for idx := range r.pool.Bump() {
		if p := r.progress.at(idx); p != nil {
			n += int64(p.done.Load() >> 32)
		}
	}
	return n
}
