package snapshot

import "github.com/scopeview/scopeview/internal/format"

// want notes the begin of a copied end apart, if the begin was not copied: it lies in a live chunk
// beyond the copied part, or in a chunk not found yet.
//
// Live chunks are read one after the other. So one may have the end of a scope that was begun in
// another after that was read. A chunk that is still to be read will have the begin, because that
// was stored before the end; a final one has it.
func (c *copier) want(loc format.Loc) {
	at, place := int(int64(loc)/c.cs), int(int64(loc)%c.cs)
	if at < 1 {
		return
	}
	if c.ring {
		p, ok := c.live[uint32(at)]
		if !ok { // final, or overwritten, or later than the snapshot: the end has the scope's data
			return
		}
		at = int(p)
	}
	if at <= len(c.chunks) {
		k := &c.chunks[at-1]
		if known := k.is != absent || c.ring; known && (k.is != copied || k.stuck || k.used == 0 || place < int(k.used)) {
			return
		}
	}
	c.wanted[at] = max(c.wanted[at], place)
}

// takeIn adds the chunk at the place at, and those before it, that were handed out after their
// places were examined. They belong to the snapshot only for the begins of its ends: the file has
// them as empty chunks.
func (c *copier) takeIn(at int) error {
	st, err := c.src.Stat()
	if err != nil || int64(at)*c.cs >= st.Size() {
		return err // no record can be there
	}
	for next := min(at, len(c.chunks)+1); next <= at; next++ {
		h, _, sound, err := c.readHead(next)
		if err != nil {
			return err
		}
		k := c.place(next)
		if sound && h.Kind == format.ChunkRecords {
			*k = chunk{ChunkID: h.ID(), is: open}
			if err := c.copyLive(next, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// fetchBegins moves the cut of every chunk that has begins of ends beyond it behind them. Records
// between may have ends too, but those are earlier than the begin, and their begins earlier still.
// So it ends, at the latest, when everything stored before the first round is copied.
func (c *copier) fetchBegins() error {
	for len(c.wanted) > 0 {
		round := c.wanted
		c.wanted = map[int]int{}
		for at, place := range round {
			if at > len(c.chunks) || c.chunks[at-1].is == absent {
				if err := c.takeIn(at); err != nil {
					return err
				}
			}
			if at > len(c.chunks) || c.chunks[at-1].is != copied {
				continue // in a broken trace an end may name any place
			}
			if err := c.copyLive(at, max(place+1, int(c.chunks[at-1].used))); err != nil {
				return err
			}
			if k := &c.chunks[at-1]; int(k.used) <= place {
				k.stuck = true
				c.missing[at] = max(c.missing[at], place)
			}
		}
	}
	return nil
}

// refreshable reports whether the file is a copy of its writer's memory, chunk by chunk, that can
// be updated. A file that is joined with a hot file is that memory itself.
func (c *copier) refreshable() bool {
	copied := c.header.Backing == format.BackingHeap || c.header.Backing == format.BackingShm && !c.state.Joined
	return c.options.Refresh != nil && copied && !c.state.Closed
}

// refreshFirst updates the file: it may be as old as the time between two rounds, and empty if the
// program has just begun.
func (c *copier) refreshFirst() error {
	if !c.refreshable() {
		return nil
	}
	if err := c.options.Refresh(); err != nil {
		return err
	}
	s, err := c.readState()
	c.state = s
	return err
}

// refresh updates the file again: it may have an end without its begin, and a record without its
// name.
func (c *copier) refresh() error {
	if !c.refreshable() {
		return nil
	}
	if err := c.options.Refresh(); err != nil {
		return err
	}
	for at, place := range c.missing {
		c.chunks[at-1].stuck = false
		c.wanted[at] = place
	}
	clear(c.missing)
	return c.fetchBegins()
}
