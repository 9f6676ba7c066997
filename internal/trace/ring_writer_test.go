package trace_test

import (
	"encoding/binary"
	"io"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// ringWriter is a model of a recorder whose chunks are reused, store by store, as writer is of one
// whose chunks are not. It identifies what it recorded by the start, which no two records share.
type ringWriter struct {
	parts uint32 // of Go execution traces, and so many blocks of locks
	rnd   *rand.Rand
	image []byte
	size  int64
	now   int64
	ring  int   // chunks
	limit int64 // the largest number

	handed    int64 // chunks with a number that were handed out
	places    int   // places of the ring that the file has
	free      []int64
	retired   []*simRing // to be overwritten, in this order
	emptying  int        // chunks that are being overwritten
	owners    []*simRing
	kept, blk *simRing
	old       []*simRing // sealed and not final
	ops       []*op

	names       int
	truth       map[int64]*ringScope
	begun       []*ringScope // and not ending
	track       map[uint64]*ringScope
	carried     map[int64]*ringScope
	beats       []int64 // number of chunks that had been handed out at each
	overwritten int64   // chunks
	records     int64   // overwritten records
	until       int64
}

// simRing is a chunk of the model.
type simRing struct {
	place, off int64 // in the file, and the address
	nth        int64 // order of hand-out
	at         int64 // place of the next record or block in the file
	busy       int   // unfinished stores
	since      int64
	final      bool
	gone       bool // it is to be overwritten, or was
	zeroed     bool // and its header is gone
	recs       []*ringScope
	ends       []*ringScope
}

// ringScope is a scope that was recorded.
type ringScope struct {
	start, stop int64 // stop -1: open
	ended       bool  // and the end can be read
	published   bool
	cpu         uint64
	goid, endBy uint64
	kind        format.Kind
	name        uint16
	arg, endArg uint64
	thread      uint32
	chunk       *simRing // where it begins
	loc         int64    // its address
	apart       *simRing // chunk of its end apart
	markedApart bool     // its record is marked as ending apart
	noBegin     bool     // the end does not describe its begin
	carriedIn   *simRing // chunk of its last carry
	carriedAt   int64    // number of chunks that had been handed out then
	carriedEnd  bool     // the carry has its end
	rec         format.Record
	ext         []byte
}

const (
	ringOwners  = 4
	ringPrepare = 8
	ringOpen    = 30 // scopes open at a time, so that their carries fit
)

func newRingWriter(seed uint64, ring int) *ringWriter {
	w := &ringWriter{rnd: rand.New(rand.NewPCG(seed, 2)), image: make([]byte, 512*simChunk), now: 1000, ring: ring, limit: int64(3 * ring),
		owners: make([]*simRing, ringOwners), truth: map[int64]*ringScope{}, track: map[uint64]*ringScope{}, carried: map[int64]*ringScope{}}
	h := format.Header{Major: format.Major, Minor: format.Minor, ChunkSize: simChunk, PageSize: 4096, PID: 1, Clock: format.ClockTSC, Path: format.PathAssembly,
		Backing: format.BackingDisk, StartTicks: 1000, TickRate: 1e9, Ring: uint32(ring)}
	copy(w.image, format.AppendHeader(nil, &h))
	w.size = simChunk
	w.now = 2000
	w.keep()
	for len(w.free) < ringPrepare {
		w.prepare()
	}
	w.blk = w.take(format.ChunkBlocks, 0)
	return w
}

// grow adds a place to the file.
func (w *ringWriter) grow() int64 {
	w.size += simChunk
	return w.size - simChunk
}

// keep begins a kept chunk.
func (w *ringWriter) keep() {
	place := w.grow()
	w.kept = &simRing{place: place, at: place + format.ChunkHeaderSize}
	w.header(w.kept, &format.ChunkHeader{Kind: format.ChunkBlocks, Flags: format.FlagKept, Gen: 1})
}

// take hands out a place; nil if there is none. The magic of the header is stored last.
func (w *ringWriter) take(k format.ChunkKind, owner int) *simRing {
	if len(w.free) == 0 {
		return nil
	}
	place := w.free[0]
	w.free = w.free[1:]
	n := w.handed%w.limit + 1
	c := &simRing{place: place, off: n * simChunk, nth: w.handed, at: place + format.ChunkHeaderSize}
	w.header(c, &format.ChunkHeader{Kind: k, Owner: uint32(owner), Gen: uint32(w.handed/w.limit + 1), Number: uint32(n)})
	w.handed++
	return c
}

func (w *ringWriter) header(c *simRing, h *format.ChunkHeader) {
	w.now++
	c.since = w.now
	h.Path, h.Index, h.Since = format.PathAssembly, uint32(c.place/simChunk), c.since
	var b [format.ChunkHeaderSize]byte
	format.PutChunkHeader(b[:], h)
	for i := len(b) - 8; i >= 0; i -= 8 {
		w.put(c.place+int64(i), binary.LittleEndian.Uint64(b[i:]))
	}
}

func (w *ringWriter) put(at int64, v uint64)    { binary.LittleEndian.PutUint64(w.image[at:], v) }
func (w *ringWriter) get(at int64) uint64       { return binary.LittleEndian.Uint64(w.image[at:]) }
func (w *ringWriter) flag(c *simRing, f uint64) { w.put(c.place+24, w.get(c.place+24)|f<<32) }

// step makes one store.
func (w *ringWriter) step() {
	w.now++
	for len(w.ops) < 3 {
		w.begin()
	}
	w.advance(w.rnd.IntN(len(w.ops)))
}

func (w *ringWriter) advance(i int) {
	o := w.ops[i]
	if o.first != nil {
		o.first()
		o.first = nil
	}
	w.put(o.stores[0].off, o.stores[0].val)
	if o.stores = o.stores[1:]; len(o.stores) == 0 {
		w.ops = slices.Delete(w.ops, i, i+1)
		o.done()
	}
}

// do starts to make stores into the chunk.
func (w *ringWriter) do(c *simRing, ss []store, done func()) {
	c.busy++
	w.ops = append(w.ops, &op{stores: ss, done: func() { c.busy--; done() }})
}

func (w *ringWriter) begin() {
	w.finish()
	w.prepare()
	for i, c := range w.owners {
		if c != nil && w.handed-c.nth > int64(w.ring) {
			// Or its number would come up again.
			w.seal(c)
			w.owners[i] = nil
		}
	}
	owner := w.rnd.IntN(ringOwners - 1)
	if w.rnd.IntN(300) == 0 {
		owner = ringOwners - 1 // keeps its chunk long
	}
	switch n := w.rnd.IntN(40); {
	case n == 0:
		w.now++
		w.block(format.BlockBeat, format.AppendBeat(nil, w.now, []format.FieldValue{{Field: format.FieldOverwritten, Value: w.records}}))
		w.sched()
	case n == 1:
		w.record(owner, format.KindTrack)
	case (n < 18 || len(w.begun) > ringOpen) && w.end(owner):
	case n < 36 && len(w.begun) <= ringOpen:
		w.record(owner, format.KindTask)
	default:
		w.record(owner, format.KindEvent)
	}
}

// sched writes a heartbeat's blocks of the scheduler and of locks.
func (w *ringWriter) sched() {
	w.block(format.BlockLock, format.AppendLockSums(nil, &format.LockSums{Ticks: w.now, Addr: 16, Contended: int64(w.parts)}))
	w.block(format.BlockSwitch, format.AppendSwitches(nil, &format.Switches{Thread: 100, Base: int64(w.parts), Until: int64(w.parts) + 1}))
	w.block(format.BlockGoTrace, format.AppendGoTrace(nil, w.parts/10+1, w.parts%10, []byte{byte(w.parts)}))
	w.parts++
	w.beats = append(w.beats, w.handed)
}

// entries returns how many entries a follower may have: records carried, or ended apart, since so
// many chunks had been handed out; and the chunks themselves and, for each beat whose chunk still
// has its number, the beat and three other blocks.
func (w *ringWriter) entries(since int64) (carried, rest int) {
	for _, s := range w.truth {
		if s.carriedIn != nil && s.carriedAt >= since || s.apart != nil && s.apart.nth >= since {
			carried++
		}
	}
	rest = 5 * w.ring
	for _, at := range w.beats {
		if w.handed-at <= w.limit {
			rest += 4
		}
	}
	return carried, rest
}

// finish makes sealed chunks final if no store into them is pending.
func (w *ringWriter) finish() {
	for len(w.old) > 0 && w.old[0].busy == 0 {
		c := w.old[0]
		w.old = w.old[1:]
		w.flag(c, format.FlagFinal)
		c.final = true
		w.retired = append(w.retired, c)
	}
}

func (w *ringWriter) seal(c *simRing) {
	w.put(c.place+format.ChunkSealedOffset, uint64(c.at-c.place))
	w.old = append(w.old, c)
}

// prepare gets another place, a new one or one to be reused.
func (w *ringWriter) prepare() {
	if len(w.free)+w.emptying >= ringPrepare {
		return
	}
	if w.places < w.ring {
		w.places++
		w.free = append(w.free, w.grow())
		return
	}
	if len(w.retired) == 0 || w.emptying > 0 && len(w.free) < ringPrepare/2 {
		return // carries need some of them
	}
	c := w.retired[0]
	w.retired = w.retired[1:]
	c.gone = true
	w.overwritten++
	for _, s := range c.recs {
		// A record is one begin, or one end.
		w.records++
		w.until = max(w.until, s.start+1)
		current := s.kind == format.KindTrack && w.track[s.goid] == s
		if !s.ended && !s.markedApart || current {
			w.carried[s.start] = s
			w.carry(s)
		}
	}
	for _, s := range c.ends {
		w.until = max(w.until, s.stop+1)
	}
	if w.overwritten%int64(w.ring/4) == 0 {
		for _, start := range slices.Sorted(maps.Keys(w.carried)) { // or a seed would not give the same run
			w.carry(w.carried[start])
		}
	}
	w.put(format.StateOffset+format.StateOverwritten, uint64(w.records))
	w.put(format.StateOffset+format.StateUntil, uint64(w.until))
	w.put(format.StateOffset+format.StateTick, uint64(w.now))
	var ss []store
	for i := int64(0); i < simChunk; i += 8 {
		if i < format.ChunkHeaderSize || w.get(c.place+i) != 0 {
			ss = append(ss, store{c.place + i, 0})
		}
	}
	w.emptying++
	w.ops = append(w.ops, &op{stores: ss, first: func() { c.zeroed = true }, done: func() { w.emptying--; w.free = append(w.free, c.place) }})
}

// carry writes a carry of a record that is gone, or is about to be.
func (w *ringWriter) carry(s *ringScope) {
	c := format.Carry{Ticks: w.now, Loc: format.Loc(s.loc), Thread: s.thread, Owner: s.thread - 100, Record: s.rec, Ext: s.ext}
	switch {
	case s.kind == format.KindTrack && w.track[s.goid] != s:
		delete(w.carried, s.start)
		return
	case s.ended && s.kind == format.KindTask:
		c.Record.Stop, c.Record.CPU = s.stop, s.cpu
		s.carriedEnd = true
		delete(w.carried, s.start)
	}
	w.block(format.BlockCarry, format.AppendCarry(nil, &c))
	s.carriedIn, s.carriedAt = w.blk, w.handed
}

// block writes a block, its first word last.
func (w *ringWriter) block(t format.BlockType, p []byte) {
	b := format.AppendBlock(nil, t, p)
	c := &w.blk
	if t == format.BlockName || t == format.BlockStop {
		c = &w.kept
	}
	if (*c).at+int64(len(b)) > (*c).place+simChunk {
		if *c == w.kept {
			w.put(w.kept.place+format.ChunkSealedOffset, uint64(w.kept.at-w.kept.place))
			w.keep()
		} else {
			w.seal(*c)
			if *c = w.take(format.ChunkBlocks, 0); *c == nil {
				panic("the model has no place for a block")
			}
		}
	}
	for i := len(b) - 8; i >= 0; i -= 8 {
		w.put((*c).at+int64(i), binary.LittleEndian.Uint64(b[i:]))
	}
	(*c).at += int64(len(b))
}

// place finds room in the owner's chunk, in a new one if needed; nil if there is none.
func (w *ringWriter) place(owner, bytes int) *simRing {
	c := w.owners[owner]
	if c == nil || c.at+int64(bytes) > c.place+simChunk {
		if len(w.free) <= ringPrepare/2 {
			return nil // the rest is for blocks
		}
		if c != nil {
			w.seal(c)
		}
		c = w.take(format.ChunkRecords, owner)
		w.owners[owner] = c
		r := format.Record{Start: w.now, Stop: int64(100 + owner), Head: format.Head(0, format.KindAnchor, false, 0)}
		for _, s := range words(c.at, &r, nil) {
			w.put(s.off, s.val)
		}
		c.at += format.RecordSize
	}
	return c
}

func (w *ringWriter) record(owner int, kind format.Kind) {
	s := &ringScope{stop: -1, goid: uint64(7 + w.rnd.IntN(4)), kind: kind, thread: uint32(100 + owner)}
	if w.names == 0 || w.names < 300 && w.rnd.IntN(30) == 0 {
		id := uint16(format.FirstName + w.names)
		w.block(format.BlockName, format.AppendName(nil, id, simName(id)))
		w.names++
	}
	s.name = uint16(format.FirstName + w.rnd.IntN(w.names))
	if kind != format.KindTrack && w.rnd.IntN(2) == 0 {
		s.arg = uint64(w.now)
		v := format.Slot{Type: format.SlotInt, Value: s.arg}
		s.ext, _ = format.AppendExt(nil, []format.Slot{v, v, v, v, v})
	}
	c := w.place(owner, format.RecordSize+len(s.ext))
	if c == nil {
		return
	}
	w.now++
	s.start = w.now
	at := c.at
	c.at += int64(format.RecordSize + len(s.ext))
	s.chunk, s.loc = c, c.off+at-c.place
	s.rec = format.Record{Start: s.start, Head: format.Head(s.goid, kind, s.ext != nil, s.name)}
	if kind == format.KindTask {
		s.rec.Stop, s.rec.CPU = format.OpenStop(s.thread, 5, 6), 0xdead
	} else {
		s.stop = s.start
	}
	w.truth[s.start] = s
	w.do(c, words(at, &s.rec, s.ext), func() {
		s.published = true
		c.recs = append(c.recs, s)
		switch kind {
		case format.KindTask:
			w.begun = append(w.begun, s)
		case format.KindTrack:
			s.ended = true
			if t := w.track[s.goid]; t == nil || t.start < s.start {
				w.track[s.goid] = s
			}
		default:
			s.ended = true
		}
	})
}

// end begins to end some scope; false if there is none. One in eight lives on.
func (w *ringWriter) end(owner int) bool {
	for i, s := range w.begun {
		if w.rnd.IntN(3) > 0 || s.start%8 == 0 && w.rnd.IntN(200) > 0 {
			continue
		}
		w.now++
		stop, cpu := w.now, uint64(w.now-s.start)<<2|uint64(format.Likely)
		if !s.chunk.final && w.rnd.IntN(4) > 0 {
			w.begun = slices.Delete(w.begun, i, i+1)
			s.stop, s.cpu = stop, cpu
			at := s.chunk.place + s.loc%simChunk
			w.do(s.chunk, []store{{at + 24, cpu}, {at + 8, uint64(stop)}}, func() { s.ended = true })
			return true
		}
		slots := []format.Slot{{Type: format.SlotLoc, Value: uint64(s.loc)}, {Type: format.SlotGoid, Value: s.goid}, {Type: format.SlotBegin, Value: s.rec.Head},
			{Type: format.SlotInt, Value: uint64(stop)}}
		mute := false
		if s.chunk.gone && w.rnd.IntN(2) == 0 {
			slots[1].Value, slots[2].Value = 0, 0
			mute = true
		}
		ext, _ := format.AppendExt(nil, slots)
		c := w.place(owner, format.RecordSize+len(ext))
		if c == nil {
			return false
		}
		w.begun = slices.Delete(w.begun, i, i+1)
		s.stop, s.cpu, s.apart, s.noBegin = stop, cpu, c, mute
		s.endBy, s.endArg = uint64(7+w.rnd.IntN(4)), uint64(stop)
		at := c.at
		c.at += int64(format.RecordSize + len(ext))
		w.flag(c, format.FlagEnds)
		r := format.Record{Start: stop, Stop: s.start, CPU: cpu, Head: format.Head(s.endBy, format.KindEnd, true, s.name)}
		if !s.chunk.final {
			s.markedApart = true
			s.rec.Stop |= format.ApartBit
			w.put(s.chunk.place+s.loc%simChunk+8, uint64(s.rec.Stop))
		}
		w.do(c, words(at, &r, ext), func() {
			s.ended = true
			c.ends = append(c.ends, s)
		})
		return true
	}
	return false
}

// settle finishes everything that was begun, and closes the trace if closeIt is set.
func (w *ringWriter) settle(closeIt bool) {
	for len(w.ops) > 0 {
		w.advance(0)
	}
	w.put(format.StateOffset+format.StateEnd, uint64(w.size))
	if closeIt {
		w.block(format.BlockStop, format.AppendTicks(nil, w.now))
		w.put(format.StateOffset+format.StateTick, uint64(w.now))
		w.put(format.StateOffset+format.StateEnd, uint64(w.size))
		w.put(format.StateOffset+format.StateClosed, 1)
	}
}

// tearingRing reads the image while the writers go on, unless it is still.
type tearingRing struct {
	w     *ringWriter
	still bool
	rate  int // a store after so many words
}

func (r *tearingRing) ReadAt(p []byte, off int64) (int, error) {
	w := r.w
	n := 0
	if off < w.size {
		n = int(min(int64(len(p)), w.size-off))
	}
	for _, i := range inAnyOrder(w.rnd, (n+7)/8) {
		if !r.still && w.rnd.IntN(r.rate) == 0 {
			w.step()
		}
		copy(p[8*i:n], w.image[off+int64(8*i):])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
