//go:build !scope_off

package record

import (
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// ring is what a recorder knows of chunks that will be, or were, overwritten.
//
// When a chunk leaves memory it is looked through once: how many records it has,
// which scopes in it are still open, which rows it names. When it is overwritten
// the number counts as overwritten, and the scopes that are open even now, and
// the rows' names, are told in carry blocks: the scopes again each quarter of the
// ring, the names each half. A name is told however long nothing was heard of its
// row: the goroutine may begin a scope now, and the program be killed before
// anybody looks through that scope's chunk.
// So whatever is in the file can be told what it is called, and a scope that is
// older than all the rest still shows.
type ring struct {
	mu     sync.Mutex
	chunks map[int64]leftover         // without pointers: it is the largest
	rare   map[int64]rare             // by chunk, too
	open   map[begun]*carried         // scopes whose chunk has left and that have not ended
	early  map[begun]struct{}         // ended while their chunk was leaving, before it was looked through
	rows   map[uint64]*carried        // by goroutine
	ended  []*carried                 // were told as open, and have ended since
	most   int                        // carried records
	forgot bool                       // there were more
	turn   int64                      // chunks looked through
	size   int64                      // chunks of the ring
	told   int64                      // gone, when the open scopes were told last
	gone   int64                      // chunks overwritten
	base   int64                      // units that the Go path reserved in those
	over   atomic.Int64               // records overwritten
	until  atomic.Int64               // ticks before which they began
	report func(c *format.Carry) bool // writes a block, if there is room
	lose   func(n int64)              // counts open scopes that could not be kept
	now    func() int64
	places pool.Ring
	buf    []byte // leave's

	// left, tellOf and closed are leave, tellEnded and end: by way of these alone, as newRing is.
	left   func(idx int64, w []uint64)
	tellOf func()
	closed func(b begun, at int64, leaving bool) (head uint64, ok bool)

	reclaim  func(idx []int64) // the writer's
	evicting func(p *pool.Pool) *flusher.Overwriting
	why      string // it is larger than was asked for
}

// begun names a scope: chunks' numbers are used again, a place with a start is not.
type begun struct{ loc, start int64 }

// leftover is what must be known of a chunk when it is overwritten.
type leftover struct {
	records int64
	last    int64 // ticks: the latest start, or stop of an end apart
}

// rare is what few chunks have.
type rare struct {
	open   []begun
	forgot int64 // open scopes that there was no room for
	rows   []uint64
}

// carried is a record that outlives its chunk.
type carried struct {
	format.Carry
	seen int64 // row: the turn at which a record of its goroutine was met last
	told int64 // chunks that had gone when it was told last; 0: it is still in its chunk
	due  bool  // row: there was no room to tell it then
}

// newRing makes the ring. It is called by way of the options that need it, so that
// programs without them don't contain what only a ring does.
func (r *recorder) newRing() {
	why := r.roundRing()
	bytes := r.opts.ring
	g := &ring{
		why:    why,
		chunks: map[int64]leftover{},
		rare:   map[int64]rare{},
		open:   map[begun]*carried{},
		early:  map[begun]struct{}{},
		rows:   map[uint64]*carried{},
		size:   bytes / pool.ChunkSize,
		// All of them told take a thirty-second of the ring.
		most: max(64, int(bytes/32/128)),
		now:  r.clock.Now,
	}
	g.report = func(c *format.Carry) bool { return r.block(format.BlockCarry, format.AppendCarry(nil, c)) }
	g.lose = func(n int64) { r.loseMany(format.LossOpen, n) }
	g.places = pool.RingOf(bytes, r.overwrite)
	g.reclaim = func(chunks []int64) { r.writer.reclaim(chunks) }
	g.left, g.tellOf, g.closed = g.leave, g.tellEnded, g.end
	g.evicting = func(p *pool.Pool) *flusher.Overwriting {
		return flusher.Overwrite(flusher.Overwriting{Lacking: p.Lacking, Kept: p.Kept, Evict: p.Evict, AtOnce: max(4, g.size/16)})
	}
	r.ring, r.kept.kept = g, true
}

// ownedPart is the least part of a ring that those who have a chunk open may have of it.
// Another such part is prepared, and what is full takes a while to be written out.
const ownedPart = 4

// roundRing makes a ring larger that is too small for the Ps that will record.
func (r *recorder) roundRing() (why string) {
	owners := int64(runtime.GOMAXPROCS(0))
	least := owners * ownedPart * pool.ChunkSize
	if r.fast == nil || r.opts.ring >= least {
		return "" // the Go path has fewer stripes instead
	}
	r.opts.ring = least
	if n := int64(r.opts.segments); n > 0 {
		// Of each the first chunk is its header.
		r.opts.segBytes = ((owners*ownedPart+n-1)/n + 1) * pool.ChunkSize
		r.opts.ring = n * r.opts.segBytes
	}
	return "made larger: each of the program's processors needs 256 KiB of it"
}

// overwrite is called with the numbers of the chunks that will be overwritten now.
func (r *recorder) overwrite(idx []int64) {
	if len(idx) == 0 {
		return // places that nothing was in yet: Start may not be that far
	}
	r.writer.overwritten(idx)
	r.ring.lost(idx)
	testpoint.Here("ring.carried")
	r.setState(false)
	testpoint.Here("ring.stated")
}

// leave looks through a chunk that nobody begins a record in any more.
func (g *ring) leave(idx int64, w []uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.chunks[idx]; ok {
		return // the file did not take it: what has ended since is not to be open again
	}
	g.turn++
	var l leftover
	var more rare
	if format.ChunkKind(w[0]>>32) != format.ChunkRecords {
		g.chunks[idx] = l
		return
	}
	var thread uint32
	owner := uint32(w[1] >> 32)
	lastRow := uint64(0)
	if g.buf == nil {
		g.buf = sys.OffHeap[byte](g, pool.ChunkSize)
	}
	// Unsigned: somebody else who stored here would have us panic.
	used := atomic.LoadUint64(&w[format.ChunkSealedOffset/8])
	for walk := format.WalkRecords(format.LoadWords(g.buf, w[:min(used/8, uint64(len(w)))])); walk.Next(); {
		r, ext := walk.Record(), walk.WholeExt()
		here := begun{idx*pool.ChunkSize + int64(walk.Off), r.Start}
		k := r.Kind()
		l.last = max(l.last, r.Start)
		switch k {
		case format.KindAnchor:
			thread = uint32(r.Stop)
			continue
		case format.KindEnd:
			if loc, ok := walk.Begin(); ok {
				if row := g.rows[binary.LittleEndian.Uint64(ext[16:])&format.MaxGoid]; row != nil {
					row.seen = g.turn
				}
				// An end on another goroutine marks the record and does not look whether
				// its chunk had been looked through.
				g.close(begun{int64(loc), r.Stop}, r.Start)
			}
			continue
		}
		l.records++
		if goid := r.Goid(); len(g.rows) > 0 && goid != lastRow {
			lastRow = goid
			if row := g.rows[goid]; row != nil {
				row.seen = g.turn
			}
		}
		c := format.Carry{Loc: format.Loc(here.loc), Thread: thread, Owner: owner, Record: r}
		switch spec := k.Spec(); {
		case r.Row() != 0:
			if row := r.Row(); len(g.rows) < g.most || g.rows[row] != nil || g.makeRoom() {
				g.rows[row] = g.carry(&c, ext)
				more.rows = append(more.rows, row)
			}
		case spec != nil && spec.Scope && r.Open():
			if _, ok := g.early[here]; ok || r.Stop&format.ApartBit != 0 {
				delete(g.early, here)
				continue
			}
			if len(g.open) >= g.most {
				g.forgot = true
				more.forgot++
				continue
			}
			g.open[here] = g.carry(&c, ext)
			more.open = append(more.open, here)
		}
	}
	if more.open != nil || more.rows != nil || more.forgot > 0 {
		g.rare[idx] = more
	}
	for b := range g.early { // those that were in time
		if b.loc/pool.ChunkSize == idx {
			delete(g.early, b)
		}
	}
	g.chunks[idx] = l
}

// carry is what is kept of a record. Inlined it would be in every program twice.
//
//go:noinline
func (g *ring) carry(rec *format.Carry, ext []byte) *carried {
	c := &carried{Carry: *rec, seen: g.turn}
	c.Ext = slices.Clone(ext)
	return c
}

// makeRoom forgets the rows that nothing was heard of while the ring went round.
func (g *ring) makeRoom() bool {
	for goid, row := range g.rows {
		if g.turn-row.seen > g.size {
			delete(g.rows, goid)
		}
	}
	return len(g.rows) < g.most
}

// close has a scope not be told as open any more. g.mu is held.
func (g *ring) close(b begun, at int64) *carried {
	c := g.open[b]
	if c != nil {
		delete(g.open, b)
		if c.told != 0 {
			c.Record.Stop, c.Record.CPU = at, 0
			g.ended = append(g.ended, c)
		}
	}
	return c
}

// end takes note that a scope has ended whose chunk is leaving, or has left, and
// returns word 2 of its begin: 0 if that is not known. If ok is false it had
// ended before.
func (g *ring) end(b begun, at int64, leaving bool) (head uint64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.close(b, at); c != nil {
		return c.Record.Head, true
	}
	if _, left := g.chunks[b.loc/pool.ChunkSize]; !left && leaving {
		if _, twice := g.early[b]; twice {
			return 0, false
		}
		g.early[b] = struct{}{}
		return 0, true
	}
	return 0, g.forgot
}

// lost is called for the chunks that will be overwritten now: it counts them and
// tells what must still be known.
func (g *ring) lost(idx []int64) {
	g.mu.Lock()
	var tell []*carried
	over, until, forgot := g.over.Load(), g.until.Load(), int64(0)
	for _, i := range idx {
		l, more := g.chunks[i], g.rare[i]
		delete(g.chunks, i)
		delete(g.rare, i)
		g.gone++
		over += l.records
		if l.last > 0 {
			until = max(until, l.last+1)
		}
		forgot += more.forgot
		for _, b := range more.open {
			if c := g.open[b]; c != nil {
				tell = append(tell, c)
			}
		}
		for _, goid := range more.rows {
			if c := g.rows[goid]; c != nil && int64(c.Loc)/pool.ChunkSize == i {
				tell = append(tell, c)
			}
		}
	}
	if g.gone-g.told >= g.size/4 {
		g.told = g.gone
		for _, c := range g.open {
			if c.told != 0 {
				tell = append(tell, c)
			}
			if row := g.rows[c.Record.Goid()]; row != nil {
				row.seen = g.turn
			}
		}
		for _, c := range g.rows {
			// Each second time: what was told is there for a whole ring.
			if c.told != 0 && (c.due || g.gone-c.told >= g.size*3/8) {
				tell = append(tell, c)
			}
		}
	}
	for _, c := range tell {
		c.told, c.due = g.gone, false
	}
	g.until.Store(until)
	g.over.Store(over)
	g.mu.Unlock()
	if forgot > 0 {
		g.lose(forgot)
	}
	testpoint.Here("ring.counted")
	untold := g.tell(tell)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range untold {
		c.due = true
	}
}

// tellEnded tells of the scopes that were told as open and are not.
func (g *ring) tellEnded() {
	g.mu.Lock()
	ended := g.ended
	g.ended = nil
	g.mu.Unlock()
	untold := g.tell(ended)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = append(g.ended, untold...)
}

// tell writes a block for each of them, and returns those that found no room.
func (g *ring) tell(list []*carried) (untold []*carried) {
	g.mu.Lock()
	carries := make([]format.Carry, len(list))
	for i, c := range list {
		carries[i] = c.Carry
	}
	g.mu.Unlock()
	now := g.now()
	for i := range carries {
		carries[i].Ticks = now
		if !g.report(&carries[i]) {
			untold = append(untold, list[i])
		}
		testpoint.Here("ring.told")
	}
	return untold
}
