package snapshot

import (
	"encoding/binary"
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// patience is the longest time, in all, that a copy waits for records that are about to be begun:
// their places would stay empty in the snapshot.
const patience = 50 * time.Millisecond

// findCut finds the time up to which records belong to the snapshot. Live chunks are read one after
// the other, which takes some milliseconds: without a time, a worker that moved to another
// processor meanwhile would have a gap, between the readings of the two chunks.
//
// First it determines which chunks are final: they are copied whole. Chunks that become final later
// also have later records, and are read like live ones; so are chunks of blocks. The records of
// these final chunks must not be later than the time, or their ends would have no begins: they are
// not later than the next chunk of their owner, and the last one of each owner is read.
func (c *copier) findCut() error {
	c.tick = c.state.Tick
	if c.state.Closed {
		c.cut = format.MaxTicks
		return nil
	}
	type owner struct {
		path   format.Path
		number uint32
	}
	last := map[owner]bornChunk{}
	var look []int
	c.cut = max(c.options.Now, c.header.StartTicks)
	err := c.eachHead(func(at int, h format.ChunkHeader, sound bool) error {
		if !sound {
			return nil
		}
		c.settle(at, &h)
		if h.Kind != format.ChunkRecords {
			c.moment = max(c.moment, h.Since) // blocks are one stream
			return nil
		}
		c.cut = max(c.cut, h.Since)
		if o := (owner{h.Path, h.Owner}); last[o].Since <= h.Since {
			last[o] = bornChunk{chunk{ChunkID: h.ID()}, at}
		}
		if h.Flags&format.FlagFinal == 0 {
			look = append(look, at)
		}
		return nil
	})
	if err == nil {
		err = c.readLosses()
	}
	if err != nil {
		return err
	}
	for _, b := range last {
		if c.settled[b.at-1] != 0 {
			look = append(look, b.at)
		}
	}
	for _, at := range look {
		if err := c.lookLatest(at); err != nil {
			return err
		}
	}
	return nil
}

// settle notes the chunk at the place at, if it is final.
func (c *copier) settle(at int, h *format.ChunkHeader) {
	for len(c.settled) < at {
		c.settled = append(c.settled, 0)
	}
	if h.Flags&format.FlagFinal != 0 {
		c.settled[at-1] = h.Since
	}
}

// readLosses reads the losses at the cut.
func (c *copier) readLosses() error {
	s, err := c.readState()
	if err != nil {
		return err
	}
	c.tick, c.lost = s.Tick, s.Lost
	if !c.header.HasCounters() {
		return nil
	}
	b := c.second[format.CountersOffset:]
	if _, err := chunks.ReadFull(c.src, b, format.CountersOffset); err != nil {
		return c.readError(format.CountersOffset, err)
	}
	c.miscounted = !format.AddCounters(&c.counters, b, format.MostCounted(s.Tick-c.header.StartTicks))
	return nil
}

// lookLatest moves the cut up to the latest begin in the chunk at the place at.
func (c *copier) lookLatest(at int) error {
	k, ok, err := c.readChunk(c.first, at)
	if !ok || err != nil || k.Kind != format.ChunkRecords {
		return err // overwritten meanwhile
	}
	for w := k.Records(); w.Next(); {
		c.cut = max(c.cut, w.Start())
	}
	return nil
}

// liveRecords copies the chunks of records that may still change.
func (c *copier) liveRecords() error {
	for at := 1; at <= len(c.chunks); at++ {
		if c.chunks[at-1].is != open {
			continue
		}
		if err := c.copyLive(at, len(c.second)); err != nil {
			return err
		}
	}
	return c.fetchBegins()
}

// copyLive reads the chunk at the place at twice and copies what the first read had: its records
// that begin before the place below in it.
func (c *copier) copyLive(at, below int) error {
	k := &c.chunks[at-1]
	var end, holes int
	var head format.ChunkHeader
	for {
		second, ok, err := c.readTwice(at)
		if err != nil {
			return err
		}
		if !ok {
			if k.is != copied { // else the earlier copy is still valid
				k.is = missed
			}
			return nil
		}
		head = second.ChunkHeader
		end, holes = c.reconcile(second.Used(), below)
		if holes == 0 || c.state.Closed || time.Now().After(c.retryUntil) {
			break
		}
		time.Sleep(time.Millisecond) // on the Go path: a goroutine is about to begin one
	}
	if end == format.ChunkHeaderSize && head.Since > c.cut && below == len(c.second) {
		k.is = absent
		c.later++
		return nil
	}
	b := c.second
	clear(b[end:])
	head.Sealed = int64(end)
	head.Flags |= format.FlagFinal
	format.PutChunkHeader(b, &head)
	k.is, k.used = copied, int32(end)
	for w := format.WalkRecords(b[:end]); w.Next(); {
		r := w.Record()
		c.moment = max(c.moment, latest(&r))
		if r.Kind() == format.KindEnd {
			if loc, ok := w.Begin(); ok {
				c.want(loc)
			}
		}
	}
	return c.writeChunk(b, at)
}

// readTwice reads the chunk at the place at into first and second. ok is false if it is another
// chunk now.
func (c *copier) readTwice(at int) (second chunks.Chunk, ok bool, err error) {
	for _, b := range [][]byte{c.first, c.second} {
		if second, ok, err = c.readChunk(b, at); err != nil {
			return second, false, err
		}
	}
	if !ok || c.chunks[at-1].ChunkID != second.ID() {
		return second, false, nil
	}
	ok, err = c.unchanged(at)
	return second, ok, err
}

// reconcile removes from the second read, of which used bytes are used, what the first did not
// have: docs/format.md §10 explains why. It also removes records that do not begin before the place
// below. It returns the end of the remaining records, and the number of empty places before it.
func (c *copier) reconcile(used, below int) (end, holes int) {
	le := binary.LittleEndian
	end = format.ChunkHeaderSize
	pending := 0
	for w := format.WalkRecords(c.second[:used]); w.Next() && w.Off < below; {
		for _, s := range w.Skipped {
			if word := le.Uint64(w.Chunk[s.From:]); word == 0 || format.IsExt(word) {
				clear(w.Chunk[s.From:s.To])
			}
			pending += (s.To - s.From) / format.RecordSize
		}
		if !w.Reconcile(c.first) {
			clear(w.Chunk[w.Off:w.To])
			pending += (w.To - w.Off) / format.RecordSize
			continue
		}
		if w.Start() > c.cut && below == len(c.second) {
			continue // only later ones follow, except those out of order on the Go path
		}
		end = w.To
		holes += pending
		pending = 0
	}
	return end, holes
}

// latest returns the latest time in a record.
func latest(r *format.Record) int64 {
	if s := r.Kind().Spec(); s == nil {
		return 0
	} else if s.Scope && r.Stop < format.MaxTicks {
		return max(r.Start, r.Stop)
	}
	return r.Start
}
