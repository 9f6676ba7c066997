package snapshot

import (
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// findMoment determines the snapshot's moment. No copied time is later, or scopes open at the
// moment would appear to have been open for longer.
func (c *copier) findMoment() error {
	c.moment = max(c.moment, c.options.Now, c.tick, c.header.StartTicks)
	if !c.state.Closed {
		c.moment = max(c.moment, c.cut)
	}
	s, err := c.readState()
	if err != nil {
		return err
	}
	// If no round has passed since, the latest blocks are of the moment; or the writer has ended,
	// and they are the last.
	now := s.Tick == c.tick
	if !c.state.Closed {
		s.Lost = c.lost
	}
	c.state = s
	for i := range c.chunks {
		if c.chunks[i].is != blocks || !now {
			continue
		}
		_, err := c.eachBlock(i+1, &c.chunks[i], func(t format.BlockType, p []byte) error {
			if _, to, ok := times(t, p); ok {
				c.moment = max(c.moment, to)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	c.moment = min(c.moment, format.MaxTicks-1)
	return nil
}

// eachBlock calls f with every whole block of the chunk k at the place at. there is false if the
// chunk has been overwritten.
//
// A block's first eight bytes are stored last, and it has a checksum, so one read is enough. It
// waits for an incomplete block, in case its writer is storing it. If the chunk is overwritten
// while it is read, its whole blocks are valid.
func (c *copier) eachBlock(at int, k *chunk, f func(t format.BlockType, p []byte) error) (there bool, err error) {
	var now chunks.Chunk
	for {
		var ok bool
		if now, ok, err = c.readChunk(c.first, at); !ok || err != nil || now.ID() != k.ChunkID {
			return false, err
		}
		if !torn(&now) || c.state.Closed || time.Now().After(c.retryUntil) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for w := now.Blocks(); w.Next(); {
		if w.Err == nil {
			if err := f(w.Type, w.Payload); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}

// torn reports whether a block of the chunk is incomplete.
func torn(k *chunks.Chunk) bool {
	for w := k.Blocks(); w.Next(); {
		if w.Err != nil {
			return true
		}
	}
	return false
}

// blocks copies the chunks of blocks that may still grow, without blocks that are later than the
// snapshot's moment. Behind them it appends the blocks of chunks that were handed out since, the
// snapshot's own facts, and its stop.
//
// Blocks are copied last. A name is written before the first record that has it, and a carry before
// its chunk is overwritten: whatever the copied chunks need has been written by now.
func (c *copier) blocks() error {
	last := 0
	for i := range c.chunks {
		k := &c.chunks[i]
		if k.is == blocks {
			if err := c.copyBlocks(i+1, k); err != nil {
				return err
			}
		}
		if k.is == copied {
			last = i + 1
			c.written++
		}
	}
	first := last + 1
	if err := c.carries(&last); err != nil {
		return err
	}
	w := c.newBlocks(last + 1)
	for i := range c.born {
		if b := &c.born[i]; b.kept {
			if _, err := c.eachBlock(b.at, &b.chunk, w.addUntil); err != nil {
				return err
			}
		}
	}
	if c.options.Blocks != nil {
		if err := c.options.Blocks(w.add); err != nil {
			return err
		}
	}
	if err := c.facts(w); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	c.written += w.at + 1 - first
	c.size = int64(w.at+1) * c.cs
	return nil
}

// carries appends, behind the chunk last, those of the ring's chunks of blocks that were handed out
// since. They hold the carries of missed chunks: so there is room for them among the chunks of the
// ring.
func (c *copier) carries(last *int) error {
	room := c.missed
	for i := range c.born {
		b := &c.born[i]
		if b.kept || room <= 0 {
			continue
		}
		w := c.newBlocks(*last + 1)
		w.like(&b.chunk)
		if _, err := c.eachBlock(b.at, &b.chunk, w.addUntil); err != nil {
			return err
		}
		if w.Empty() {
			continue
		}
		if err := w.flush(); err != nil {
			return err
		}
		*last = w.at
		room--
	}
	return nil
}

// copyBlocks copies the chunk k of blocks to its place.
func (c *copier) copyBlocks(at int, k *chunk) error {
	w := c.newBlocks(at)
	w.like(k)
	there, err := c.eachBlock(at, k, w.addUntil)
	if err != nil {
		return err
	}
	if k.is = copied; !there {
		k.is = missed
		c.missed++
		return nil
	}
	return w.flush()
}
