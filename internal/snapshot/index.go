package snapshot

import (
	"fmt"
	"math"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// chunk describes a chunk of the trace.
type chunk struct {
	format.ChunkID
	used  int32 // of a live chunk of records: where the copy ends
	is    role
	kept  bool // no ring overwrites it
	gone  bool // it was copied whole, and is overwritten in the source now
	stuck bool // reading it again brings no more
}

// role is a chunk's treatment in the snapshot.
type role uint8

const (
	absent role = iota // no chunk, or none of the snapshot's
	final              // copied unchanged
	open               // records that may still change
	blocks             // blocks that may still grow
	copied             // it is in the snapshot
	missed             // it was overwritten before it could be copied
)

// order returns a number by which a ring's chunks sort in order of hand-out.
func (k *chunk) order() uint64 { return uint64(k.Gen)<<32 | uint64(k.Number) }

// came returns a number by which chunks compare in order of hand-out. It is 0 for blocks that no
// ring overwrites, which belong to the snapshot whenever they came.
func (c *copier) came(at int, h *format.ChunkHeader) uint64 {
	switch {
	case !c.keeps(h):
		k := chunk{ChunkID: h.ID()}
		return k.order()
	case !c.ring && h.Kind == format.ChunkRecords:
		return uint64(at)
	}
	return 0
}

// keeps reports whether no ring overwrites the chunk with that header.
func (c *copier) keeps(h *format.ChunkHeader) bool { return !c.ring || h.Flags&format.FlagKept != 0 }

// file returns the trace in its present state.
func (c *copier) file() (chunks.File, error) {
	st, err := c.src.Stat()
	if err != nil {
		return chunks.File{}, fmt.Errorf("reading the file information of %s: %w", c.src.Name(), err)
	}
	return chunks.Of(c.src, st.Size(), &c.header, &c.state), nil
}

// readHead reads the header of the chunk at the place at. sound is false if there is none, or if it
// makes no sense.
func (c *copier) readHead(at int) (h format.ChunkHeader, born, sound bool, err error) {
	h, ok, bad, err := c.now().Settled(int64(at) * c.cs)
	if err != nil {
		return h, false, false, c.readError(int64(at)*c.cs, err)
	}
	return h, ok || bad != nil, ok && bad == nil, nil
}

// readChunk reads the chunk at the place at into b. ok is false if there is none, or if it makes no
// sense.
func (c *copier) readChunk(b []byte, at int) (k chunks.Chunk, ok bool, err error) {
	k, ok, bad, err := c.now().ReadChunk(b, int64(at)*c.cs)
	if err != nil {
		err = c.readError(int64(at)*c.cs, err)
	}
	return k, ok && bad == nil, err
}

// now returns the trace in its present state, of any length.
func (c *copier) now() *chunks.File {
	f := chunks.Of(c.src, math.MaxInt64, &c.header, &c.state)
	return &f
}

// unchanged reports whether the chunk that was found at the place at is still there.
func (c *copier) unchanged(at int) (bool, error) {
	k := &c.chunks[at-1]
	if k.Since == 0 { // its header makes no sense: it is copied while that is so
		_, born, sound, err := c.readHead(at)
		return born && !sound, err
	}
	same, err := c.now().Has(int64(at)*c.cs, k.ChunkID)
	if err != nil {
		err = c.readError(int64(at)*c.cs, err)
	}
	return same, err
}

// eachHead calls f with the header of every chunk, up to where none follow.
func (c *copier) eachHead(f func(at int, h format.ChunkHeader, sound bool) error) error {
	file, err := c.file()
	if err != nil {
		return err
	}
	return file.Each(c.cs, c.state.End, func(off int64) (bool, error) {
		at := int(off / c.cs)
		h, born, sound, err := c.readHead(at)
		if err == nil && born {
			err = f(at, h, sound)
		}
		return born, err
	})
}

// index finds the chunks that belong to the snapshot.
//
// Reading all headers takes time: a chunk that was handed out after its place was read would be
// missing, while a later one further back would be included. Numbers distinguish them: the first
// pass finds the newest, the second all that are not newer. Without a ring places are handed out in
// the order in which they are read. But a file that is a copy gets them in any order. So it is
// updated between the two passes: then it has all that are not newer.
func (c *copier) index() error {
	if c.ring || c.refreshable() {
		err := c.eachHead(func(at int, h format.ChunkHeader, sound bool) error {
			if sound {
				c.newest = max(c.newest, c.came(at, &h))
			}
			return nil
		})
		if err == nil && c.refreshable() {
			err = c.options.Refresh()
		}
		if err != nil {
			return err
		}
		c.live = map[uint32]int32{}
	}
	lastBlocks, lastKept := 0, 0
	err := c.eachHead(func(at int, h format.ChunkHeader, sound bool) error {
		k := c.place(at)
		if *k = c.found(at, &h, sound); k.is == absent {
			return nil
		}
		if k.is == open && c.ring {
			c.live[k.Number] = int32(at)
		}
		if sound && h.Kind == format.ChunkBlocks {
			lastBlocks = at
			if h.Flags&format.FlagKept != 0 {
				lastKept = at
			}
		}
		return nil
	})
	// A trace that was closed, or about to be, has a stop block there, and the snapshot gets its
	// own.
	for _, at := range []int{lastBlocks, lastKept} {
		if at != 0 {
			c.chunks[at-1].is = blocks
		}
	}
	return err
}

// place returns the table's entry for the place at, and grows the table up to it.
func (c *copier) place(at int) *chunk {
	for len(c.chunks) < at {
		c.chunks = append(c.chunks, chunk{})
	}
	return &c.chunks[at-1]
}

// found returns the entry for a chunk with that header.
func (c *copier) found(at int, h *format.ChunkHeader, sound bool) chunk {
	if !sound {
		return chunk{is: final}
	}
	k := chunk{ChunkID: h.ID(), is: final, kept: c.keeps(h)}
	if h.Flags&format.FlagFinal == 0 || !c.isSettled(at, h) {
		switch h.Kind {
		case format.ChunkRecords:
			k.is = open
		case format.ChunkBlocks:
			k.is = blocks
		}
	}
	if c.live != nil && c.came(at, h) > c.newest {
		c.later++
		return chunk{}
	}
	return k
}

// room returns an error if the copy will not fit: until the copy failed, no other writer would have
// room either, the trace's writer included.
func (c *copier) room() error {
	need := c.cs*2 + c.options.Room // the header, and the appended blocks
	for i := range c.chunks {
		if c.chunks[i].is != absent {
			need += c.cs
		}
	}
	return roomFor(c.dst, need)
}

// isSettled reports whether the chunk was final when findCut determined the final chunks.
func (c *copier) isSettled(at int, h *format.ChunkHeader) bool {
	return c.state.Closed || at <= len(c.settled) && c.settled[at-1] == h.Since
}
