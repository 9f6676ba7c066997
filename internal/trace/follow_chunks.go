package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// findChunks finds chunks that were handed out since the last poll.
func (f *Follower) findChunks() error {
	t := f.t
	before := len(f.live)
	unborn := f.unborn
	f.unborn = nil
	for _, at := range unborn {
		born, err := f.findChunk(at)
		if err != nil {
			return err
		}
		if !born && !t.state.Closed {
			f.unborn = append(f.unborn, at)
		}
	}
	cs := int64(t.header.ChunkSize)
	err := t.chunkFile().Each(t.used, t.state.End, func(at int64) (bool, error) {
		born, err := f.findChunk(at)
		if born && err == nil {
			for ; t.used < at; t.used += cs {
				f.unborn = append(f.unborn, t.used)
			}
			t.used = at + cs
		}
		return born, err
	})
	if len(f.live) > before {
		slices.SortFunc(f.live, func(a, b *liveChunk) int { return cmp.Compare(a.loc, b.loc) })
	}
	return err
}

// findChunk adds the chunk at the offset at; born is false if none was handed out there.
func (f *Follower) findChunk(at int64) (born bool, err error) {
	t := f.t
	if t.overwrites() {
		// A chunk that makes no sense may be half overwritten.
		h, ok, bad, err := t.chunkFile().Settled(at)
		if err == nil && bad == nil && ok {
			_, bad = t.addr.loc(at, &h)
		}
		if bad != nil {
			return false, nil
		}
	}
	c, born, err := t.indexChunk(at)
	switch {
	case c == nil:
		return born, err
	case c.Kind == format.ChunkRecords:
		f.live = append(f.live, &liveChunk{chunkInfo: *c})
	default:
		t.tails = append(t.tails, blockTail{loc: c.loc, at: format.ChunkHeaderSize})
	}
	f.countChunk(c)
	return born, err
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
	t.tails, t.nameSearches = tails, 0
	if changed {
		old := t.clock
		t.settle()
		if fresh := t.clock; fresh.EndsAs(&f.fresh) {
			t.clock = old
		} else {
			f.fresh = fresh
			t.clock = old.Bend(fresh, f.delivered, t.header.TickRate)
		}
		f.decoder.clocks()
		t.nameByObject()
		f.decoder.objects = t.objects.Load()
	}
	return nil
}
