//go:build !scope_off

package record

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// The Go path writes the same records without assembly: on other processors, with
// untested Go versions, and on the heap. It does not measure CPU times.
//
// A goroutine reserves its place in the chunk of a stripe by one atomic add and stores
// its record, the start last: while a reserved place has no start, a goroutine is about
// to store, and Stop waits for it. An end is one compare-and-swap of a word that is
// unique to the record (its start, marked open): in a recording that has ended, or in the
// next one, it fails and does no harm.

// stripe is a chunk shared by the goroutines whose ids map to it.
type stripe struct {
	// place holds the chunk's number (bits 32-62) and the units reserved in it (0-31),
	// which exceed its size if it is full; bit 63 forbids further reservations.
	place atomic.Uint64
	mu    sync.Mutex // held while another chunk is taken
	_     [112]byte
}

const (
	stripeCount = 64 // maximum
	stripeShut  = 1 << 63
	openBit     = 1 << 63
	apartBit    = 1 << 62
	chunkUnits  = pool.ChunkSize / format.RecordSize
	headUnits   = format.ChunkHeaderSize / format.RecordSize
	sinceWord   = 2 // of a chunk's header
)

// progress is the state of a chunk.
type progress struct {
	taken  atomic.Bool   // by a stripe
	sealed atomic.Uint64 // units reserved when it was sealed; 0: open
	done   atomic.Uint64 // units written; only on the heap, where chunks are copied
}

// progressTable holds the progress of every chunk, in pages created on demand.
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

// goWriter is the Go path of a recording.
type goWriter struct {
	*recorder
	stripes  [stripeCount]stripe
	striping uint64       // number of stripes in use, less 1
	mapped   sys.Range    // of its chunks; zero: on the heap
	units    atomic.Int64 // units written that are not records of their own
	progress progressTable
}

func newGoWriter(r *recorder) *goWriter {
	g := &goWriter{recorder: r, striping: stripeCount - 1}
	if a := r.pool.Range(); a != nil {
		g.mapped = *a
	}
	for i := range g.stripes {
		g.stripes[i].place.Store(chunkUnits + 1) // chunk 0: none yet
	}
	for r.ring != nil && (int64(g.striping)+1)*ownedPart > r.opts.ring/pool.ChunkSize {
		g.striping >>= 1
	}
	return g
}

// simple reports whether begin and endNow may handle the usual case themselves.
func (g *goWriter) simple() bool {
	return g.mapped.Base() != 0 && g.clock.Counter() && g.goids.Fast()
}

func (g *goWriter) path() format.Path {
	if g.goids.Fast() && g.clock.Counter() {
		return format.PathGo
	}
	return format.PathPure
}

func (g *goWriter) witness() uint32               { return format.WitnessGoid }
func (g *goWriter) configure(cfg *flusher.Config) { cfg.Whole = g.whole }
func (g *goWriter) enter()                        { atomic.StoreUint32(&sys.Live.On, goPath) }
func (g *goWriter) beat()                         {}

// useNames and named matter only to the assembly.
func (g *goWriter) useNames(nameCache) {}
func (g *goWriter) named()             {}

// begin begins a scope.
func (g *goWriter) begin(head uint64, x *encoder) Handle {
	goid := g.goids.Get()
	loc, w, why := g.reserve(goid, x)
	if why != 0 {
		g.lose(why)
		return Handle{}
	}
	testpoint.Here("go.begin.reserved")
	if x != nil {
		head |= g.fillExt(w, x)
	}
	start := g.clock.Now()
	if x != nil && x.at != 0 {
		start = x.at
		if c := g.pool.Words(loc / pool.ChunkSize); c != nil {
			start = max(start, int64(c[sinceWord])) // a record does not begin before its chunk
		}
	}
	setWord(&w[1], uint64(start)|openBit)
	setWord(&w[2], head|goid&format.MaxGoid)
	testpoint.Here("go.begin.filled")
	publish(&w[0], uint64(start))
	testpoint.Here("go.begin.published")
	if g.mapped.Base() == 0 {
		g.progress.at(loc / pool.ChunkSize).done.Add(uint64(len(w) / 4))
	}
	return Handle{Loc: loc, Start: start}
}

// put writes a complete record.
func (g *goWriter) put(rec *[4]uint64, x *encoder, count int64) {
	goid := g.goids.Get()
	loc, w, why := g.reserve(goid, x)
	if why != 0 {
		g.losePut(why, count)
		return
	}
	testpoint.Here("go.put.reserved")
	idx := loc / pool.ChunkSize
	at := int64(rec[0])
	if at == 0 {
		at = g.clock.Now()
	}
	head := rec[2] | goid&format.MaxGoid
	if count == 0 {
		if c := g.pool.Words(idx); c != nil {
			atomic.OrUint64(&c[format.ChunkFlagsOffset/8], format.FlagEnds<<32)
		}
		g.units.Add(1)
	}
	if x != nil {
		head |= g.fillExt(w, x)
	}
	setWord(&w[1], rec[1])
	setWord(&w[2], head)
	setWord(&w[3], rec[3])
	testpoint.Here("go.put.filled")
	publish(&w[0], uint64(at))
	testpoint.Here("go.put.published")
	if g.mapped.Base() == 0 {
		g.progress.at(idx).done.Add(uint64(len(w) / 4))
	}
}

// fillExt stores an extension, its header first, and returns the record's bit for it.
func (g *goWriter) fillExt(w []uint64, x *encoder) uint64 {
	for i := range x.n {
		if i%4 == 0 {
			publish(&w[4+i], x.w[i]) // where a start would be: after the header
			testpoint.Here("go.ext.unit")
			continue
		}
		setWord(&w[4+i], x.w[i])
	}
	g.units.Add(int64(len(w)/4 - 1))
	return format.ExtBit
}

// chunkWords returns the memory of n units of a chunk, from unit at on.
func (g *goWriter) chunkWords(idx int64, at, n uint64) []uint64 {
	if g.mapped.Base() != 0 {
		return g.mapped.Words(idx*pool.ChunkSize+int64(at)*format.RecordSize, int64(n)*format.RecordSize)
	}
	w := g.pool.Words(idx)
	if w == nil {
		return nil // Stop has given up waiting
	}
	return w[4*at : 4*(at+n)]
}

// reserve reserves units in the chunk of the goroutine's stripe, or returns why it can't.
func (g *goWriter) reserve(goid uint64, x *encoder) (loc int64, w []uint64, why format.Loss) {
	n := uint64(1)
	if x != nil {
		n += uint64(x.units())
	}
	number := goid % stripeCount & g.striping
	s := &g.stripes[number]
	if why := g.pool.Dry(); why != 0 && !s.room(n) {
		return 0, nil, why // without taking its lock
	}
	for {
		v := s.place.Add(n)
		idx, used := int64(v&^stripeShut>>32), v&(1<<32-1)
		if v&(stripeShut|1<<32-1) <= chunkUnits {
			if w = g.chunkWords(idx, used-n, n); w == nil {
				return 0, nil, format.LossStop
			}
			return idx*pool.ChunkSize + int64(used-n)*format.RecordSize, w, 0
		}
		if v&stripeShut != 0 {
			return 0, nil, format.LossStop
		}
		g.crossed(v, n)
		testpoint.Here("go.chunk.crossed")
		if why := g.refill(s, number, idx); why != 0 {
			return 0, nil, why
		}
	}
}

// room reports whether the stripe's chunk may have room for n units, or the recording has
// ended.
func (s *stripe) room(n uint64) bool {
	v := s.place.Load()
	used := v & (1<<32 - 1)
	if used > 1<<30 { // concurrent reservations must not overflow the count
		s.place.CompareAndSwap(v, v-used+chunkUnits+1)
	}
	return v&stripeShut != 0 || used+n <= chunkUnits
}

// hasRoom reports whether the chunk of the caller's stripe may have room for n units.
func (g *goWriter) hasRoom(n uint64) bool {
	return g.stripes[g.goids.Get()%stripeCount&g.striping].room(n)
}

// crossed seals the chunk of a stripe if the reservation of n units that changed its
// place to v is the one that crossed the chunk's end: exactly one does.
func (g *goWriter) crossed(v, n uint64) {
	idx, used := int64(v>>32), v&(1<<32-1)
	if v&stripeShut == 0 && idx != 0 && used > chunkUnits && used-n <= chunkUnits {
		g.sealChunk(idx, used-n)
	}
}

func (g *goWriter) expire(chunks []int64) { g.reclaim(chunks) }

// reclaim seals those of the chunks that a stripe owns: its goroutines take another chunk
// when they record again.
func (g *goWriter) reclaim(chunks []int64) {
	for i := range g.stripes {
		s := &g.stripes[i]
		s.mu.Lock()
		for {
			v := s.place.Load()
			idx, used := int64(v&^stripeShut>>32), v&(1<<32-1)
			if v&stripeShut != 0 || idx == 0 || used > chunkUnits || !slices.Contains(chunks, idx) {
				break
			}
			if s.place.CompareAndSwap(v, uint64(idx)<<32|(chunkUnits+1)) {
				g.sealChunk(idx, used)
				break
			}
		}
		s.mu.Unlock()
	}
}

// refill gives a stripe another chunk than old, unless it has one already.
func (g *goWriter) refill(s *stripe, number uint64, old int64) format.Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.place.Load()
	if v&stripeShut != 0 {
		return format.LossStop
	}
	if int64(v>>32) != old {
		return 0
	}
	full := func(v uint64) { // otherwise the count would overflow in the end
		s.place.CompareAndSwap(v, uint64(old)<<32|(chunkUnits+1))
	}
	idx, why := g.pool.Take()
	if why != 0 {
		full(v)
		return why
	}
	testpoint.Here("go.chunk.taken")
	h := g.chunkHeader(format.ChunkRecords, g.path(), idx)
	h[1] |= number << 32
	storeHeader(g.pool.Words(idx), &h)
	testpoint.Here("go.chunk.headed")
	p := g.progress.make(idx)
	p.sealed.Store(0) // in a ring, another chunk may have had this number
	p.done.Store(headUnits)
	p.taken.Store(true)
	g.pool.Advance(idx, pool.Open)
	testpoint.Here("go.chunk.open")
	for !s.place.CompareAndSwap(v, uint64(idx)<<32|headUnits) {
		v = s.place.Load()
	}
	return 0
}

// storeHeader stores a chunk header, its magic last.
func storeHeader(w []uint64, h *[8]uint64) {
	for i := 1; i < len(h); i++ {
		setWord(&w[i], h[i])
	}
	atomic.StoreUint64(&w[0], h[0])
}

// sealChunk stores how much of a chunk was reserved: no more will be written.
func (g *goWriter) sealChunk(idx int64, units uint64) {
	w := g.pool.Words(idx)
	if w == nil {
		return // Stop has given up waiting
	}
	atomic.StoreUint64(&w[format.ChunkSealedOffset/8], units*format.RecordSize)
	testpoint.Here("go.chunk.sealed")
	g.progress.make(idx).sealed.Store(units)
	g.pool.Advance(idx, pool.Sealed)
}

// whole reports whether everything reserved in a sealed chunk has been written: by count
// on the heap, else by reading the chunk.
func (g *goWriter) whole(idx int64) bool {
	p := g.progress.at(idx)
	if p == nil || !p.taken.Load() {
		return true // not a chunk of the Go path
	}
	sealed := p.sealed.Load()
	if sealed == 0 {
		return false
	}
	if g.mapped.Base() == 0 {
		return p.done.Load() >= sealed
	}
	w := g.chunkWords(idx, 0, sealed)
	for u := uint64(headUnits); u < sealed; u++ {
		if atomic.LoadUint64(&w[4*u]) == 0 {
			return false
		}
		if w[4*u+2]&format.ExtBit != 0 && u+1 < sealed {
			u += uint64(format.ExtUnits(w[4*u+4]))
		}
	}
	return true
}

// end ends a scope in place, or apart if its chunk may have been written out, if another
// goroutine ends it, or if there are arguments.
func (g *goWriter) end(h Handle, at int64, x *encoder) {
	if at == 0 {
		at = g.clock.Now()
	}
	if h.Start < g.began {
		g.staleEnds.Add(1)
		return
	}
	idx, unit := h.Loc/pool.ChunkSize, h.Loc%pool.ChunkSize/format.RecordSize // on the path that wrote it
	state := g.pool.State(idx)
	if state == pool.Free {
		g.endStale(h, at, x)
		return
	}
	var w []uint64
	if g.mapped.Base() != 0 {
		w = g.mapped.Words(h.Loc, format.RecordSize)
	} else if c := g.pool.Words(idx); c != nil {
		w = c[4*unit : 4*unit+4]
	}
	if state > pool.Sealed || w == nil {
		g.endApart(h, at, x, false)
		return
	}
	// Neither a start nor a stop is ever 0: if one is, the chunk has left meanwhile, and
	// the page there is not read by anyone.
	if v := atomic.LoadUint64(&w[0]); v == 0 {
		g.endApart(h, at, x, false)
		return
	} else if v != uint64(h.Start) {
		if g.pool.State(idx) > pool.Sealed { // the heap's memory is reused
			g.endApart(h, at, x, false)
			return
		}
		g.endStale(h, at, x)
		return
	}
	open := uint64(h.Start) | openBit
	foreign := g.goids.Get()&format.MaxGoid != atomic.LoadUint64(&w[2])&format.MaxGoid
	if foreign || x != nil {
		if !atomic.CompareAndSwapUint64(&w[1], open, open|apartBit) {
			g.endTwice(h, at, w, x)
			return
		}
		testpoint.Here("go.end.marked")
		if foreign {
			g.foreignEnds.Add(1)
			g.endForeign(h, at, atomic.LoadUint64(&w[2]), x)
			return
		}
		x.w[2] = g.goids.Get() & format.MaxGoid // the goroutine that began it
		x.w[3] = atomic.LoadUint64(&w[2])
		g.putEnd(h, at, 0, x)
		return
	}
	if !atomic.CompareAndSwapUint64(&w[1], open, uint64(at)) {
		g.endTwice(h, at, w, nil)
		return
	}
	if g.pool.State(idx) > pool.Sealed {
		g.endLate(h, at)
	}
}

// endTwice handles an end whose record w is not open.
func (g *goWriter) endTwice(h Handle, at int64, w []uint64, x *encoder) {
	if atomic.LoadUint64(&w[1]) == 0 || atomic.LoadUint64(&w[0]) != uint64(h.Start) {
		g.endApart(h, at, x, false)
		return
	}
	g.doubleEnds.Add(1)
}

// endLate additionally writes an end apart for a scope that was ended in place, because
// its chunk began to leave meanwhile: a copy of the chunk, or a ring's carry block, may
// lack the end.
//
//go:noinline
func (g *goWriter) endLate(h Handle, at int64) {
	g.lateEnds.Add(1)
	g.endApart(h, at, nil, true)
}

// endStale ends a scope whose record is not in its place: it never was, or a ring has
// overwritten it and reused its chunk's number.
func (g *goWriter) endStale(h Handle, at int64, x *encoder) {
	if g.ring == nil {
		g.staleEnds.Add(1)
		return
	}
	g.endApart(h, at, x, false)
}

// leave stops new records and waits until those in progress are written. It gives up
// after a second, which happens only if the system does not run a goroutine.
func (g *goWriter) leave() {
	for i := range g.stripes {
		// Under the lock: its holder may be about to begin a chunk.
		g.stripes[i].mu.Lock()
		v := g.stripes[i].place.Or(stripeShut)
		g.stripes[i].mu.Unlock()
		if idx, used := int64(v&^stripeShut>>32), v&(1<<32-1); idx != 0 && used <= chunkUnits {
			g.sealChunk(idx, used)
		}
	}
	deadline := time.Now().Add(time.Second)
	for _, idx := range g.pool.Live(nil) {
		// Chunks taken by the flusher were complete, and may no longer be in memory: on
		// shm they read as zeros, which no writer will fill.
		for g.pool.State(idx) <= pool.Sealed && !g.whole(idx) && time.Now().Before(deadline) {
			runtime.Gosched()
		}
	}
}

// written returns the number of records: the units reserved, less those that are not
// records of their own.
func (g *goWriter) written() (records, foreign int64) {
	n := -g.units.Load()
	if g.ring != nil {
		g.ring.mu.Lock()
		defer g.ring.mu.Unlock()
		n += g.ring.base
	}
	for _, idx := range g.pool.Live(nil) {
		if p := g.progress.at(idx); p != nil && p.taken.Load() {
			n += int64(p.sealed.Load())
			n -= headUnits
		}
	}
	for i := range g.stripes {
		v := g.stripes[i].place.Load()
		idx, used := int64(v&^stripeShut>>32), v&(1<<32-1)
		if p := g.progress.at(idx); p != nil && p.taken.Load() && p.sealed.Load() == 0 {
			n += int64(min(used, chunkUnits))
		}
	}
	return n, 0
}

// overwritten counts the records of chunks that are about to be overwritten: afterwards
// their progress is that of other chunks.
func (g *goWriter) overwritten(chunks []int64) {
	g.ring.mu.Lock()
	defer g.ring.mu.Unlock()
	for _, i := range chunks {
		if p := g.progress.at(i); p != nil && p.taken.Swap(false) {
			g.ring.base += int64(p.sealed.Load()) - headUnits
		}
	}
}
