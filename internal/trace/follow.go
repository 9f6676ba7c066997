package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// Follower reads a trace while it is being written. It delivers every scope
// when it has ended, in place or apart, and every instant, exactly once.
//
// # Design
//
// A chunk is live until nothing in it can change: until it is final, or sealed
// without an open record and without a hole. Every poll walks over the live
// chunks anew and delivers what it has not seen: one bit for each place of 32
// bytes. Walking anew costs microseconds, and otherwise a place that was empty
// and later becomes a record with an extension, or a part of one, would have to
// be told from its neighbours' bytes.
//
// An end apart is delivered when it is met, with its begin read at the place
// that it names; so open scopes in chunks that are not live any more cost
// nothing but their entry in the list that Open reads.
type Follower struct {
	t       *Trace
	sizeOf  func() (int64, error)
	decoder decoder

	unborn []int64 // places before t.used that no chunk was seen in
	live   []*liveChunk
	buf    chunkBuf
	block  []byte
	open   map[int64]uint32 // begins in chunks that are not live: place -> thread
	tracks trackTable
	ready  []item // found and not delivered yet, by end
	late   int    // ends that wait for their begin
	quiet  bool   // do not deliver: what is there already
}

// FollowOptions tell a Follower where to begin.
type FollowOptions struct {
	FromStart bool // deliver what the trace holds already; else only what ends from now on
}

// liveChunk is a chunk of records that may change.
type liveChunk struct {
	chunkInfo
	seen []uint64 // by place of 32 bytes: delivered, or nothing to deliver
	open []int64  // begins that were open at the last look
	tids []uint32 // their threads
}

func (c *liveChunk) saw(unit int) bool { return c.seen[unit/64]&(1<<(unit%64)) != 0 }
func (c *liveChunk) see(unit int)      { c.seen[unit/64] |= 1 << (unit % 64) }

// item is a record to be delivered.
type item struct {
	end   int64 // ticks: what items are ordered by
	rec   format.Record
	where where
	ext   []byte
	apart *apart
}

// apart is an end record. Both parts of a scope are kept as they were read when
// the end was found: a block of the file that was read earlier in the poll may
// be older than that.
type apart struct {
	rec format.Record
	ext []byte
}

// batch is how many chunks are walked before what they gave is delivered. It
// bounds the memory on a trace that is long already; the order by end is that
// of a batch.
const batch = 64

// NewFollower opens the trace for following; size tells how long it is now.
func NewFollower(r io.ReaderAt, size func() (int64, error), o FollowOptions) (*Follower, error) {
	n, err := size()
	if err != nil {
		return nil, fmt.Errorf("asking for the trace's size: %w", err)
	}
	t, err := Open(r, n)
	if err != nil {
		return nil, err
	}
	f := &Follower{t: t, sizeOf: size, decoder: newDecoder(t), open: map[int64]uint32{}}
	at := int64(t.header.ChunkSize)
	for _, c := range t.chunks {
		for ; at < c.off; at += int64(t.header.ChunkSize) {
			f.unborn = append(f.unborn, at)
		}
		at = c.off + int64(t.header.ChunkSize)
		if c.kind == format.ChunkRecords {
			f.live = append(f.live, f.newLive(c))
		}
	}
	if !o.FromStart {
		f.quiet = true
		_, err = f.walk(nil)
		f.quiet = false
	}
	return f, err
}

func (f *Follower) newLive(c chunkInfo) *liveChunk {
	return &liveChunk{chunkInfo: c}
}

// Trace is what is known so far: header, names, heartbeats. Its getters are
// good between polls; its Events would need an Open of its own.
func (f *Follower) Trace() *Trace { return f.t }

// Poll calls fn once with every scope that ended, and every instant, counter,
// track and go record that came, since the last call, by the time of their end.
// Track is the row's name at that time; Depth is not set. If fn returns false,
// the rest is kept for the next call.
//
// done tells that the trace was closed and everything was delivered. A trace
// whose writer was killed is never closed: see WriterAlive, and poll once more
// after the writer's death.
func (f *Follower) Poll(fn func(*Event) bool) (done bool, err error) {
	if !f.deliver(fn) {
		return false, nil
	}
	closed, err := f.refresh()
	if err != nil {
		return false, err
	}
	if err := f.findChunks(); err != nil {
		return false, err
	}
	if err := f.findBlocks(); err != nil {
		return false, err
	}
	f.decoder.endNS = f.t.End()
	all, err := f.walk(fn)
	return closed && all && f.late == 0, err
}

// refresh asks for the file's size and reads its header again. closed was true
// before anything else is read, so then that is all there will be.
func (f *Follower) refresh() (closed bool, err error) {
	t := f.t
	least := t.Size() // Stop cuts off the prepared window, but no more
	if t.size, err = f.sizeOf(); err != nil {
		return false, fmt.Errorf("asking for the trace's size: %w", err)
	}
	if t.size < least {
		return false, &CorruptError{Path: t.path, Offset: t.size, Err: fmt.Errorf("%w: the file shrank from at least %d bytes while it was read", format.ErrCorrupt, least)}
	}
	var b [format.StateOffset + format.StateSize]byte
	n, err := readFull(t.r, b[:], 0)
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
	t.state = s
	if s.Tick > 0 && s.Tick < format.MaxTicks {
		t.last = max(t.last, s.Tick)
	}
	return s.Closed, nil
}

// findChunks looks for chunks that were handed out since the last poll.
func (f *Follower) findChunks() error {
	t := f.t
	cs := int64(t.header.ChunkSize)
	look := func(off int64) (born bool, err error) {
		n := len(t.chunks)
		born, err = t.indexChunk(off)
		if len(t.chunks) > n {
			if c := f.chunkAt(off + format.ChunkHeaderSize); c != nil {
				f.live = append(f.live, f.newLive(*c))
			} else {
				t.tails = append(t.tails, blockTail{off: off, at: format.ChunkHeaderSize})
			}
		}
		return born, err
	}
	before := len(f.live)
	unborn := f.unborn
	f.unborn = nil
	for _, off := range unborn {
		born, err := look(off)
		if err != nil {
			return err
		}
		if !born && !t.state.Closed {
			f.unborn = append(f.unborn, off)
		}
	}
	none := 0
	for off := t.used; off < t.size && (none <= unbornMax || off <= t.state.End); off += cs {
		born, err := look(off)
		if err != nil {
			return err
		}
		if !born {
			none++
			continue
		}
		for ; t.used < off; t.used += cs {
			f.unborn = append(f.unborn, t.used)
		}
		t.used, none = off+cs, 0
	}
	if len(f.live) > before {
		slices.SortFunc(f.live, func(a, b *liveChunk) int { return cmp.Compare(a.off, b.off) })
	}
	return nil
}

// findBlocks reads the blocks that were written since the last poll.
func (f *Follower) findBlocks() error {
	t := f.t
	if f.block == nil {
		f.block = make([]byte, t.header.ChunkSize)
	}
	tails := t.tails[:0]
	changed := false
	for _, tail := range t.tails {
		more, read, err := t.readTail(&tail, f.block)
		if err != nil {
			return err
		}
		changed = changed || read
		if more {
			tails = append(tails, tail)
		}
	}
	t.tails, t.missed = tails, 0
	if changed {
		t.settle()
		f.decoder.clocks()
	}
	return nil
}

// walk looks at the live chunks and delivers. all is false if fn had enough.
func (f *Follower) walk(fn func(*Event) bool) (all bool, err error) {
	f.late = 0
	live := f.live
	kept := make([]*liveChunk, 0, 16) // not in place: end searches f.live meanwhile
	for i, c := range live {
		more, err := f.look(c)
		if err != nil || more {
			kept = append(kept, c)
		}
		if err != nil {
			f.live = append(kept, live[i+1:]...)
			return false, err
		}
		if (i+1)%batch == 0 && !f.deliver(fn) {
			f.live = append(kept, live[i+1:]...)
			return false, nil
		}
	}
	f.live = kept
	return f.deliver(fn), nil
}

// look walks over one chunk. more is false when nothing in it can change.
func (f *Follower) look(c *liveChunk) (more bool, err error) {
	t, buf := f.t, &f.buf
	last := c.flags&format.FlagFinal != 0 || t.state.Closed // it was final before it is read
	if err := t.readChunk(buf, &c.chunkInfo, f.decoder.problems); err != nil {
		return true, err
	}
	f.mark(c)
	wasLate := f.late
	c.open, c.tids = c.open[:0], c.tids[:0]
	var thread uint32
	s := buf.scan()
	for s.next() {
		unit := s.off / format.RecordSize
		r := s.record()
		k := r.Kind()
		if k == format.KindAnchor {
			thread = uint32(r.Stop)
			continue
		}
		spec := k.Spec()
		if c.saw(unit) || spec == nil {
			continue
		}
		loc := c.off + int64(s.off)
		if k == format.KindEnd {
			ok, err := f.end(&r, loc, s.extBytes())
			if err != nil {
				return true, err
			}
			if ok {
				c.see(unit)
			}
			continue
		}
		if spec.Scope && r.Open() {
			c.open, c.tids = append(c.open, loc), append(c.tids, thread)
			continue
		}
		c.see(unit)
		end := r.Start
		if spec.Scope {
			end = max(end, r.Stop)
		}
		f.add(item{end: end, rec: r, where: where{loc, thread, c.owner}, ext: slices.Clone(s.extBytes())})
	}
	if last {
		for i, loc := range c.open {
			if !c.saw(int(loc-c.off) / format.RecordSize) { // its end may be in this chunk too
				f.open[loc] = c.tids[i]
			}
		}
		return f.late > wasLate, nil
	}
	c.flags = buf.head.Flags
	return buf.head.Sealed == 0 || len(c.open) > 0 || s.holes > 0 || f.late > wasLate, nil
}

// mark gives c its marks.
func (f *Follower) mark(c *liveChunk) {
	if c.seen == nil {
		c.seen = make([]uint64, (int(f.t.header.ChunkSize)/format.RecordSize+63)/64)
	}
}

// add queues an item. Quiet ones only name rows.
func (f *Follower) add(it item) {
	if it.end < format.MaxTicks {
		f.t.last = max(f.t.last, it.end)
	}
	if f.quiet {
		f.track(&it.rec)
		return
	}
	f.ready = append(f.ready, it)
}

func (f *Follower) track(r *format.Record) {
	if k := r.Kind(); (k == format.KindTrack || k == format.KindGo) && r.Goid() != 0 {
		f.tracks.put(r.Goid(), r.Name())
	}
}

// end queues the scope that the end record r at loc ends. ok is false if the
// begin can't be seen yet: its chunk's pages may be written later than the end's.
func (f *Follower) end(r *format.Record, loc int64, ext []byte) (ok bool, err error) {
	t := f.t
	begin, ok := endLoc(ext)
	if !ok || begin <= 0 || begin%format.RecordSize != 0 {
		f.decoder.problems.add(textOrphanEnd, loc, 1)
		return true, nil
	}
	b, err := t.freshRecord(begin)
	if err != nil {
		return false, err
	}
	info := f.chunkAt(begin)
	if info == nil || b.Start == 0 {
		if t.state.Closed {
			f.decoder.problems.add(textOrphanEnd, loc, 1)
			return true, nil
		}
		f.late++
		return false, nil
	}
	if b.Stop == r.Start && b.Start == r.Stop {
		return true, nil // it ended in place too, see stream.twice
	}
	if spec := b.Kind().Spec(); spec == nil || !spec.Scope || !b.Open() || b.Start != r.Stop {
		f.decoder.problems.add(textOrphanEnd, loc, 1)
		return true, nil
	}
	w := where{loc: begin, owner: info.owner}
	if format.Path(info.path) == format.PathAssembly {
		w.thread = uint32(b.Stop>>40) & 0x3fffff
	}
	if c := f.liveAt(begin); c != nil {
		f.mark(c)
		unit := int(begin-c.off) / format.RecordSize
		if c.saw(unit) {
			return true, nil // ended twice
		}
		c.see(unit)
	}
	delete(f.open, begin)
	it := item{end: max(r.Start, b.Start), rec: b, where: w, apart: &apart{*r, slices.Clone(ext)}}
	if b.Ext() {
		if it.ext, err = t.freshExt(begin + format.RecordSize); err != nil {
			return false, err
		}
	}
	f.add(it)
	return true, nil
}

// chunkAt is the chunk of records that loc lies in, nil if it is not known.
func (f *Follower) chunkAt(loc int64) *chunkInfo {
	off := loc - loc%int64(f.t.header.ChunkSize)
	i, ok := slices.BinarySearchFunc(f.t.chunks, off, func(c chunkInfo, off int64) int { return cmp.Compare(c.off, off) })
	if !ok || f.t.chunks[i].kind != format.ChunkRecords || loc-off < format.ChunkHeaderSize {
		return nil
	}
	return &f.t.chunks[i]
}

func (f *Follower) liveAt(loc int64) *liveChunk {
	off := loc - loc%int64(f.t.header.ChunkSize)
	i, ok := slices.BinarySearchFunc(f.live, off, func(c *liveChunk, off int64) int { return cmp.Compare(c.off, off) })
	if !ok {
		return nil
	}
	return f.live[i]
}

// deliver hands over what is ready. It returns false if fn had enough.
func (f *Follower) deliver(fn func(*Event) bool) bool {
	slices.SortStableFunc(f.ready, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.where.loc, b.where.loc))
	})
	d := &f.decoder
	var e Event
	for i := range f.ready {
		it := &f.ready[i]
		d.begin(&e, &it.rec, it.rec.Start, &it.where)
		f.track(&it.rec)
		e.Track = f.tracks.get(e.Goid)
		switch {
		case it.apart != nil:
			x, ok := decodeEnd(&it.apart.rec, it.apart.ext, &it.rec, d.endArgs[:0])
			if !ok {
				d.problems.add(textBadEnd, it.where.loc, 1)
				continue
			}
			d.join(&e, &it.rec, it.rec.Start, &x)
		case e.Kind.Spec().Scope:
			d.ended(&e, it.rec.Start, it.rec.Stop, it.rec.CPU)
		default:
			d.instant(&e, &it.rec)
		}
		d.arguments(&e, it.ext)
		if !fn(&e) {
			f.ready = append(f.ready[:0], f.ready[i+1:]...)
			return false
		}
	}
	clear(f.ready)
	f.ready = f.ready[:0]
	return true
}

// Open calls fn with the scopes that were open at the last poll, by their begin.
func (f *Follower) Open(fn func(*Event) bool) error {
	type begin struct {
		rec format.Record
		w   where
	}
	var list []begin
	add := func(loc int64, thread uint32) error {
		r, err := f.t.freshRecord(loc)
		if err != nil {
			return err
		}
		if info := f.chunkAt(loc); info != nil && r.Open() {
			list = append(list, begin{r, where{loc, thread, info.owner}})
		}
		return nil
	}
	var errs []error
	for loc, thread := range f.open {
		errs = append(errs, add(loc, thread))
	}
	for _, c := range f.live {
		for i, loc := range c.open {
			if !c.saw(int(loc-c.off) / format.RecordSize) {
				errs = append(errs, add(loc, c.tids[i]))
			}
		}
	}
	slices.SortFunc(list, func(a, b begin) int {
		return cmp.Or(cmp.Compare(a.rec.Start, b.rec.Start), cmp.Compare(a.w.loc, b.w.loc))
	})
	var e Event
	for i := range list {
		b := &list[i]
		f.decoder.begin(&e, &b.rec, b.rec.Start, &b.w)
		f.decoder.open(&e, b.rec.Start)
		e.Track = f.tracks.get(e.Goid)
		var ext []byte
		if b.rec.Ext() {
			x, err := f.t.freshExt(b.w.loc + format.RecordSize)
			errs, ext = append(errs, err), x
		}
		f.decoder.arguments(&e, ext)
		if !fn(&e) {
			break
		}
	}
	return errors.Join(errs...)
}

// Problems lists what was tolerated so far.
func (f *Follower) Problems() []Problem {
	return append(f.t.Problems(), f.decoder.problems.sorted()...)
}
