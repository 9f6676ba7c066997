package trace

import (
	"cmp"
	"errors"
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
			h, ok, err := t.settledHeader(at)
			if err == nil && ok {
				_, err = t.logical(at, &h)
			}
			if errors.Is(err, format.ErrCorrupt) {
				return false, nil
			}
		}
		c, born, err := t.indexChunk(at)
		if c == nil {
			return born, err
		}
		if c.kind == format.ChunkRecords {
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
