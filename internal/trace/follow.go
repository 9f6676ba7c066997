package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace/clock"
)

// Follower reads a trace while it is being written. It delivers every scope
// when it has ended, in place or apart, and every instant, exactly once.
//
// # Design
//
// A chunk is live until nothing in it can change: until it is final, or sealed without an open
// record and without a hole. Every poll walks over the live chunks again and delivers what it has
// not seen, with one bit for each place of 32 bytes. That costs microseconds. Otherwise a place
// that was empty, and later becomes a record or a part of one, would have to be recognized by its
// neighbours' bytes.
//
// An end apart is delivered when it is found, with its begin read at the location in it. So an open
// scope in a chunk that is not live any more costs only its entry in the list that Open reads.
//
// In a ring the state of overwritten chunks is dropped; see follow_ring.go. Missed counts what was
// overwritten before it was read.
//
// Delivered times do not change: a new calibration bends the clock towards its own time, from then
// on. So a time may differ from that of Events over the whole trace: by some ns, and in the first
// second of a recording by up to some 10 µs.
type Follower struct {
	t       *Trace
	sizeOf  func() (int64, error)
	decoder decoder

	unborn    []int64 // places before t.used without a chunk so far
	live      []*liveChunk
	buf       chunkBuf
	block     []byte
	open      map[format.Loc]openBegin // begins in chunks that are not live
	ring      followedRing
	tracks    trackTable
	ready     []item      // found and not delivered yet
	order     []place     // those left in ready, by end; nil: not sorted yet
	late      int         // ends that wait for their begin
	quiet     bool        // deliver nothing: skips the present contents
	fresh     clock.Clock // by all known calibrations; t's own may be bent to it
	delivered int64       // the last time delivered, ns

	current Event
}

// FollowOptions select where a Follower begins.
type FollowOptions struct {
	FromStart bool // deliver the present contents of the trace too; else only what ends from now on
}

// liveChunk is a chunk of records that may change.
type liveChunk struct {
	chunkInfo
	whole bool        // it was final before it was last read
	seen  marks       // delivered, or nothing to deliver
	open  []openBegin // when it was last read
}

func (c *liveChunk) saw(loc format.Loc) bool { return c.seen.has(loc - c.loc) }
func (c *liveChunk) see(loc format.Loc)      { c.seen.set(loc - c.loc) }

// eachOpen calls fn with the begins that were open when the chunk was last read, and whose end was
// not found since.
func (c *liveChunk) eachOpen(fn func(openBegin)) {
	for _, b := range c.open {
		if !c.saw(b.loc) {
			fn(b)
		}
	}
}

// marks is a set of places in a chunk: a bit for each record.
type marks []uint64

func (m marks) has(place format.Loc) bool {
	unit := int(place / format.RecordSize)
	return unit/64 < len(m) && m[unit/64]&(1<<(unit%64)) != 0
}

func (m *marks) set(place format.Loc) {
	unit := int(place / format.RecordSize)
	for len(*m) <= unit/64 {
		*m = append(*m, 0)
	}
	(*m)[unit/64] |= 1 << (unit % 64)
}

// item is a record to be delivered.
type item struct {
	end   int64 // ticks: the sort key
	rec   format.Record
	at    recordLoc
	ext   []byte
	apart *apart
}

// apart is an end record. Both parts of a scope are kept as they were read when the end was found:
// the cache may have an older copy of the file.
type apart struct {
	rec format.Record
	ext []byte
}

// batch is the number of chunks that are walked before their events are delivered. It bounds the
// memory on a trace that is already long; within a batch events are sorted by end.
const batch = 64

// NewFollower opens the trace for following; size returns its present size.
func NewFollower(r io.ReaderAt, size func() (int64, error), o FollowOptions) (*Follower, error) {
	n, err := size()
	if err != nil {
		return nil, fmt.Errorf("reading the trace's size: %w", err)
	}
	t, err := Open(r, n)
	if err != nil {
		return nil, err
	}
	f := &Follower{t: t, sizeOf: size, decoder: newDecoder(t), open: map[format.Loc]openBegin{}, fresh: t.clock}
	at := int64(t.header.ChunkSize)
	for _, c := range t.Chunks() {
		for ; at < c.Offset; at += int64(t.header.ChunkSize) {
			f.unborn = append(f.unborn, at)
		}
		at = c.Offset + int64(t.header.ChunkSize)
	}
	for _, c := range t.chunks {
		if c.Kind == format.ChunkRecords {
			f.live = append(f.live, &liveChunk{chunkInfo: c})
		}
	}
	f.quiet = !o.FromStart
	f.startRing()
	if f.quiet {
		_, err = f.walk(nil)
		f.deliverCarriedEnds(len(f.ring.closing))
		f.quiet = false
	}
	return f, err
}

// NameByObject is the trace's NameByObject, for events delivered from now on.
func (f *Follower) NameByObject(objects func([]Place) []Object) {
	f.t.NameByObject(objects)
	f.decoder.objects = f.t.objectNames()
}

// Trace returns the trace as known so far: header, names, heartbeats. Its getters are valid between
// polls; its Events would need an Open of its own.
func (f *Follower) Trace() *Trace { return f.t }

// Poll calls fn once with every scope that ended since the last call, and every new instant,
// counter, track and go record, by the time of their end. Track is the row's name at that time;
// Depth is not set. If fn returns false, the rest is kept for the next call.
//
// done reports whether the trace was closed and everything was delivered. A trace
// whose writer was killed is never closed: see WriterAlive, and poll once more
// after the writer's death.
func (f *Follower) Poll(fn func(*Event) bool) (done bool, err error) {
	if !f.deliver(fn) {
		return false, nil
	}
	f.ring.lastPoll = f.t.last
	closed, err := f.refresh()
	if err != nil {
		return false, err
	}
	if err := f.sweep(); err != nil {
		return false, err
	}
	if err := f.findChunks(); err != nil {
		return false, err
	}
	if err := f.findBlocks(); err != nil {
		return false, err
	}
	f.decoder.endNS = f.t.End()
	examined := len(f.ring.closing)
	f.examineCarries()
	all, err := f.walk(fn)
	if all && err == nil {
		// A scope just carried may have its end in a chunk that was not found yet.
		if closed {
			examined = len(f.ring.closing)
		}
		f.deliverCarriedEnds(examined)
		all = f.deliver(fn)
	}
	return closed && all && f.late == 0, err
}

// refresh updates the file's size and header. closed was true before anything else is read, so
// everything that will ever be written is there.
func (f *Follower) refresh() (closed bool, err error) {
	t := f.t
	least := t.Size() // Stop cuts off the prepared window, but no more
	if t.size, err = f.sizeOf(); err != nil {
		return false, fmt.Errorf("reading the trace's size: %w", err)
	}
	if t.size < least {
		return false, &corruptError{Path: t.path, Offset: t.size, Err: fmt.Errorf("%w: the file shrank from at least %d bytes while it was read", format.ErrCorrupt, least)}
	}
	var b [format.StateOffset + format.StateSize]byte
	n, err := chunks.ReadFull(t.r, b[:], 0)
	if err != nil {
		return false, ioError(t.path, 0, err)
	}
	h, s, err := format.DecodeHeader(b[:n])
	if err == nil && h != t.header {
		err = fmt.Errorf("%w: another trace was written over it while it was read", format.ErrCorrupt)
	}
	if err != nil {
		return false, headerError(t.path, err)
	}
	changed := s != t.state
	t.state = s
	if s.Tick > 0 && s.Tick < format.MaxTicks {
		t.last = max(t.last, s.Tick)
	}
	if changed { // no more often than the writer updates its state
		if err := t.readCounters(); err != nil {
			return false, err
		}
	}
	return s.Closed, nil
}

// deliver delivers the items in ready. It returns false if fn did.
func (f *Follower) deliver(fn func(*Event) bool) bool {
	if f.order == nil {
		for i := range f.ready {
			it := &f.ready[i]
			f.order = append(f.order, place{it.end, uint32(i), 0})
		}
		slices.SortFunc(f.order, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(f.ready[a.off].at.loc, f.ready[b.off].at.loc))
		})
	}
	for len(f.order) > 0 {
		it := &f.ready[f.order[0].off]
		f.order = f.order[1:]
		e := f.event(it)
		if !f.t.selects(e.Goid) {
			continue
		}
		f.delivered = max(f.delivered, e.Start+e.Dur)
		if !fn(e) {
			return false
		}
	}
	clear(f.ready)
	f.ready, f.order = f.ready[:0], nil
	return true
}

// event decodes the item.
func (f *Follower) event(it *item) *Event {
	d, e := &f.decoder, &f.current
	d.begin(e, &it.rec, it.rec.Start, &it.at)
	f.track(&it.rec)
	e.Track = f.tracks.get(e.Goid)
	switch {
	case it.apart != nil:
		x, _ := decodeEnd(&it.apart.rec, it.apart.ext, &it.rec, d.endArgs[:0]) // it fitted when it was queued
		d.join(e, &it.rec, it.rec.Start, &x)
	case e.Kind.Spec().Scope:
		d.ended(e, it.rec.Start, it.rec.Stop, it.rec.CPU)
	default:
		d.instant(e, &it.rec)
	}
	d.arguments(e, it.ext)
	return e
}

// Open calls fn with the scopes that were open at the last poll, by their begin.
func (f *Follower) Open(fn func(*Event) bool) error {
	list, err := f.openNow()
	slices.SortFunc(list, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.rec.Start, b.rec.Start), cmp.Compare(a.at.loc, b.at.loc))
	})
	var e Event
	for i := range list {
		b := &list[i]
		if !f.t.selects(b.rec.Goid()) {
			continue
		}
		f.decoder.begin(&e, &b.rec, b.rec.Start, &b.at)
		f.decoder.open(&e, b.rec.Start)
		e.Track = f.tracks.get(e.Goid)
		f.decoder.arguments(&e, b.ext)
		f.delivered = max(f.delivered, e.Start)
		if !fn(&e) {
			break
		}
	}
	return err
}

// openNow reads the open scopes, as far as they can be read.
func (f *Follower) openNow() (list []item, err error) {
	var errs []error
	add := func(b openBegin) {
		r, ext, err := f.t.freshBegin(b.loc)
		if err == errGone {
			return // the next poll handles it
		}
		if err != nil {
			errs = append(errs, err)
		}
		if info := f.recordsAt(b.loc); info != nil && r.Open() && !f.t.endOverwritten(&r, f.t.state.Until) {
			list = append(list, item{rec: r, at: recordLoc{b.loc, b.thread, info.owner, false}, ext: ext})
		}
	}
	for _, b := range f.open {
		add(b)
	}
	for _, c := range f.live {
		c.eachOpen(add)
	}
	for _, x := range f.t.carried {
		if x.hasCarry && x.state == carryOpen && x.rec.Open() {
			list = append(list, item{rec: x.rec, at: x.at, ext: x.ext})
		}
	}
	return list, errors.Join(errs...)
}

// Events calls t.Events with the Follower's times and objects. t is the same trace, opened after
// the Follower was made; an event that both deliver has the same Loc.
func (f *Follower) Events(t *Trace, o Options, fn func(*Event) bool) error {
	t.clock = f.t.clock
	t.objects.Store(f.t.objects.Load())
	t.needsNames.Store(false)
	return t.Events(o, func(e *Event) bool {
		f.delivered = max(f.delivered, e.Start)
		if !e.Open {
			f.delivered = max(f.delivered, e.Start+e.Dur)
		}
		return fn(e)
	})
}

// Problems lists the defects tolerated so far.
func (f *Follower) Problems() []Problem {
	return append(f.t.Problems(), f.decoder.problems.sorted()...)
}
