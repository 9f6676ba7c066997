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

// ring is the recorder's state for chunks that will be, or were, overwritten.
//
// When a chunk leaves memory it is scanned once, for its number of records, its open scopes, and
// the rows it names. When it is overwritten, that number is added to the overwritten records, and
// the scopes that are still open, and the names of rows, are written to carry blocks: the scopes
// again each quarter of the ring, the names each half. A name is carried however long its row was
// silent: the goroutine may begin a scope now, and the program be killed before that scope's
// chunk is scanned. So everything in the file has its name, and a scope older than all other
// records is still shown.
type ring struct {
	mu        sync.Mutex
	chunks    map[int64]leftover         // without pointers: it is the largest map
	rare      map[int64]rare             // by chunk
	open      map[begun]*carried         // open scopes whose chunk has left
	early     map[begun]struct{}         // scopes that ended while their chunk was leaving, before it was scanned
	rows      map[uint64]*carried        // by goroutine
	ended     []*carried                 // carried as open, and ended since
	most      int                        // limit of carried records
	forgot    bool                       // open scopes were dropped at the limit
	turn      int64                      // chunks scanned
	size      int64                      // chunks of the ring
	carriedAt int64                      // value of gone when the open scopes were last carried
	gone      int64                      // chunks overwritten
	base      int64                      // units that the Go path reserved in them
	over      atomic.Int64               // records overwritten
	until     atomic.Int64               // ticks: all overwritten records began before
	report    func(c *format.Carry) bool // writes a block if there is room
	lose      func(n int64)              // counts open scopes that were dropped
	now       func() int64
	places    pool.Ring
	buf       []byte // of leave

	// left, writeEnds and closed are leave, carryEnded and end. They are called only through these
	// variables, as newRing is.
	left      func(idx int64, w []uint64)
	writeEnds func()
	closed    func(b begun, at int64, leaving bool) (head uint64, ok bool)

	reclaim  func(idx []int64) // the writer's reclaim
	evicting func(p *pool.Pool) *flusher.Overwriting
	why      string // why it is larger than requested
}

// begun identifies a scope: chunk numbers are reused, but the pair of a place and a start is
// unique.
type begun struct{ loc, start int64 }

// leftover holds what is needed of a chunk when it is overwritten.
type leftover struct {
	records int64
	last    int64 // ticks: the latest start of a record, or time of an end apart
}

// rare holds what only few chunks have.
type rare struct {
	open   []begun
	forgot int64 // open scopes dropped at the limit
	rows   []uint64
}

// carried is a record that outlives its chunk.
type carried struct {
	format.Carry
	seen      int64 // of a row: turn of the goroutine's latest record
	carriedAt int64 // value of gone when it was last carried; 0: it is still in its chunk
	due       bool  // of a row: there was no room to carry it
}

// newRing creates the ring. It is called only through the options that need it, so that other
// programs do not contain the code for rings.
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
		// Carrying all of them takes a thirty-second of the ring.
		most: max(64, int(bytes/32/128)),
		now:  r.clock.Now,
	}
	g.report = func(c *format.Carry) bool { return r.block(format.BlockCarry, format.AppendCarry(nil, c)) }
	g.lose = func(n int64) { r.loseMany(format.LossOpen, n) }
	g.places = pool.RingOf(bytes, r.overwrite)
	g.reclaim = func(chunks []int64) { r.writer.reclaim(chunks) }
	g.left, g.writeEnds, g.closed = g.leave, g.carryEnded, g.end
	g.evicting = func(p *pool.Pool) *flusher.Overwriting {
		return flusher.Overwrite(flusher.Overwriting{Lacking: p.Lacking, Kept: p.Kept, Evict: p.Evict, AtOnce: max(4, g.size/16)})
	}
	r.ring, r.kept.kept = g, true
}

// ownedPart is the inverse of the largest part of a ring that open chunks may take. As much again
// is prepared, and full chunks take a while to be written.
const ownedPart = 4

// roundRing enlarges a ring that is too small for the Ps that will record.
func (r *recorder) roundRing() (why string) {
	owners := int64(runtime.GOMAXPROCS(0))
	least := owners * ownedPart * pool.ChunkSize
	if r.fast == nil || r.opts.ring >= least {
		return "" // the Go path uses fewer stripes instead
	}
	r.opts.ring = least
	if n := int64(r.opts.segments); n > 0 {
		// The first chunk of each segment is its header.
		r.opts.segBytes = ((owners*ownedPart+n-1)/n + 1) * pool.ChunkSize
		r.opts.ring = n * r.opts.segBytes
	}
	return "enlarged: each of the program's processors needs 256 KiB of it"
}

// overwrite is called with the numbers of the chunks that are about to be overwritten.
func (r *recorder) overwrite(idx []int64) {
	if len(idx) == 0 {
		return // the places are still empty: Start may not have finished
	}
	r.writer.overwritten(idx)
	r.ring.lost(idx)
	testpoint.Here("ring.carried")
	r.setState(false)
	testpoint.Here("ring.stated")
}

// leave scans a chunk in which no more records will begin.
func (g *ring) leave(idx int64, w []uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.chunks[idx]; ok {
		return // writing it failed before: what has ended since must not be reopened
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
	// Unsigned, so that a foreign process that stores here can't cause a panic.
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
				// An end on another goroutine marks the record without checking whether its chunk
				// was scanned.
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
	for b := range g.early { // the ends that came in time
		if b.loc/pool.ChunkSize == idx {
			delete(g.early, b)
		}
	}
	g.chunks[idx] = l
}

// carry returns a copy of a record to be carried. Inlined, it would be in every program twice.
//
//go:noinline
func (g *ring) carry(rec *format.Carry, ext []byte) *carried {
	c := &carried{Carry: *rec, seen: g.turn}
	c.Ext = slices.Clone(ext)
	return c
}

// makeRoom drops the rows without a record during the ring's last turn.
func (g *ring) makeRoom() bool {
	for goid, row := range g.rows {
		if g.turn-row.seen > g.size {
			delete(g.rows, goid)
		}
	}
	return len(g.rows) < g.most
}

// close stops carrying a scope as open. g.mu is held.
func (g *ring) close(b begun, at int64) *carried {
	c := g.open[b]
	if c != nil {
		delete(g.open, b)
		if c.carriedAt != 0 {
			c.Record.Stop, c.Record.CPU = at, 0
			g.ended = append(g.ended, c)
		}
	}
	return c
}

// end records that a scope has ended whose chunk is leaving, or has left, and returns word 2 of
// its begin, or 0 if unknown. ok is false if it had ended before.
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

// lost is called for the chunks that are about to be overwritten: it counts their records and
// carries what must be kept.
func (g *ring) lost(idx []int64) {
	g.mu.Lock()
	var outlive []*carried
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
				outlive = append(outlive, c)
			}
		}
		for _, goid := range more.rows {
			if c := g.rows[goid]; c != nil && int64(c.Loc)/pool.ChunkSize == i {
				outlive = append(outlive, c)
			}
		}
	}
	if g.gone-g.carriedAt >= g.size/4 {
		g.carriedAt = g.gone
		for _, c := range g.open {
			if c.carriedAt != 0 {
				outlive = append(outlive, c)
			}
			if row := g.rows[c.Record.Goid()]; row != nil {
				row.seen = g.turn
			}
		}
		for _, c := range g.rows {
			// Every second time, because a carry block lasts for a turn of the ring.
			if c.carriedAt != 0 && (c.due || g.gone-c.carriedAt >= g.size*3/8) {
				outlive = append(outlive, c)
			}
		}
	}
	for _, c := range outlive {
		c.carriedAt, c.due = g.gone, false
	}
	g.until.Store(until)
	g.over.Store(over)
	g.mu.Unlock()
	if forgot > 0 {
		g.lose(forgot)
	}
	testpoint.Here("ring.counted")
	unwritten := g.writeCarries(outlive)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range unwritten {
		c.due = true
	}
}

// carryEnded carries the ends of scopes that were carried as open.
func (g *ring) carryEnded() {
	g.mu.Lock()
	ended := g.ended
	g.ended = nil
	g.mu.Unlock()
	unwritten := g.writeCarries(ended)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = append(g.ended, unwritten...)
}

// writeCarries writes a block for each record, and returns those for which there was no room.
func (g *ring) writeCarries(list []*carried) (unwritten []*carried) {
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
			unwritten = append(unwritten, list[i])
		}
		testpoint.Here("ring.reported")
	}
	return unwritten
}
