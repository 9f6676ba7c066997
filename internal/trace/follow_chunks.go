package trace

import (
	"cmp"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// findChunks looks for chunks that were handed out since the last poll.
func (f *Follower) findChunks() error {
	t := f.t
	cs := int64(t.header.ChunkSize)
	look := func(at int64) (born bool, err error) {
		if t.overwrites() {
			// What makes no sense may be half overwritten.
			h, ok, bad, err := t.places().Settled(at)
			if err == nil && bad == nil && ok {
				_, bad = t.logical(at, &h)
			}
			if bad != nil {
				return false, nil
			}
		}
		c, born, err := t.indexChunk(at)
		if c == nil {
			return born, err
		}
		if c.Kind == format.ChunkRecords {
			f.live = append(f.live, f.newLive(*c))
		} else {
			t.tails = append(t.tails, blockTail{off: c.off, at: format.ChunkHeaderSize})
		}
		if t.inRing() {
			f.number(c)
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
	err := t.places().Each(t.used, t.state.End, func(at int64) (bool, error) {
		born, err := look(at)
		if born && err == nil {
			for ; t.used < at; t.used += cs {
				f.unborn = append(f.unborn, t.used)
			}
			t.used = at + cs
		}
		return born, err
	})
	if err != nil {
		return err
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
	t.tails, t.asked = tails, 0
	if changed {
		old := t.clock
		t.settle()
		if fresh := t.clock; fresh.last() == f.fresh.last() {
			t.clock = old
		} else {
			f.fresh = fresh
			t.clock = old.bend(fresh, f.told, t.header.TickRate)
		}
		f.decoder.clocks()
	}
	return nil
}
