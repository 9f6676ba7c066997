package snapshot

import (
	"sort"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// account computes how many records the ring overwrote. The records in the snapshot + lost +
// overwritten are then all records issued up to its moment.
//
// At the moment itself that is the word overwritten of the state. But chunks are overwritten while
// others are copied. Their records are missing here, and the word counts them from then on: so it
// is read again, last. Some of the chunks that it counts by then were copied before. Their records
// are not missing, and are subtracted: they are counted in the copy.
//
// The writer adds a chunk's records to the word and then zeroes its header. So a chunk whose header
// is unchanged after the word was read is not in the word, and one whose header was changed before
// is. To have all chunks on one side or the other, the word is read until none of the oldest has
// changed since: only a writer that is stopped between its two stores makes a difference, of one
// chunk.
//
// If the writer goes once around the ring while it is copied, the word also counts records that
// were issued after the moment. The sum is then all records issued up to the latest of those, and
// the missing ones count as overwritten.
func (c *copier) account() error {
	if err := c.findBorn(); err != nil {
		return err
	}
	c.overwritten, c.until = c.state.Overwritten, c.state.Until
	if !c.ring {
		return nil
	}
	last, err := c.lastState()
	if err != nil {
		return err
	}
	n, err := c.recordsGone()
	c.overwritten = max(last.Overwritten-n, 0)
	for i := range c.chunks {
		if c.chunks[i].is == missed {
			c.missed++
		}
	}
	if c.missed > 0 { // else the copy has everything that existed when the state was read
		c.until = min(last.Until, c.moment)
	}
	return err
}

// findBorn finds the chunks of blocks that were handed out after the moment.
func (c *copier) findBorn() error {
	err := c.eachHead(func(at int, h format.ChunkHeader, sound bool) error {
		known := at <= len(c.chunks) && c.chunks[at-1].is != absent && c.chunks[at-1].ChunkID == h.ID()
		if sound && h.Kind == format.ChunkBlocks && !known {
			k := chunk{ChunkID: h.ID(), kept: c.keeps(&h)}
			c.born = append(c.born, bornChunk{k, at})
		}
		return nil
	})
	sort.Sort(byBirth(c.born))
	return err
}

// lastState marks the chunks that are gone, and reads the state between two checks with none of the
// oldest chunks overwritten in between.
func (c *copier) lastState() (s format.State, err error) {
	left := c.overwritable()
	if left, err = c.dropGone(left, len(left)); err != nil {
		return s, err
	}
	for {
		if s, err = c.readState(); err != nil {
			return s, err
		}
		before := len(left)
		if left, err = c.dropGone(left, oldest); err != nil || len(left) == before {
			return s, err
		}
	}
}

// bornChunk is a chunk of blocks that was handed out after the moment.
type bornChunk struct {
	chunk
	at int
}

// oldest is the number of chunks that are checked to see whether one was overwritten. The next one
// is the oldest without a writer.
const oldest = 32

// overwritable returns the places of the copied chunks that the ring can overwrite, in the
// order in which it does.
func (c *copier) overwritable() (places []int32) {
	for i := range c.chunks {
		if k := &c.chunks[i]; k.is == copied && !k.kept {
			places = append(places, int32(i+1))
		}
	}
	c.inOrder(places)
	return places
}

// inOrder sorts places by the time when their chunks were handed out. slices.SortFunc would make
// the host program larger, by one copy for each type.
func (c *copier) inOrder(places []int32) {
	sort.Sort(&byOrder{c, places})
}

type byOrder struct {
	c      *copier
	places []int32
}

func (s *byOrder) Len() int      { return len(s.places) }
func (s *byOrder) Swap(i, j int) { s.places[i], s.places[j] = s.places[j], s.places[i] }
func (s *byOrder) Less(i, j int) bool {
	i, j = int(s.places[i]), int(s.places[j])
	a, b := s.c.chunks[i-1].order(), s.c.chunks[j-1].order()
	return a < b || a == b && i < j
}

type byBirth []bornChunk

func (s byBirth) Len() int      { return len(s) }
func (s byBirth) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s byBirth) Less(i, j int) bool {
	a, b := s[i].order(), s[j].order()
	return a < b || a == b && s[i].at < s[j].at
}

// dropGone marks those of the first n places whose chunk has been overwritten in the source, and
// returns the others.
func (c *copier) dropGone(places []int32, n int) ([]int32, error) {
	left := places[:0]
	for i, at := range places {
		if i < n {
			ok, err := c.unchanged(int(at))
			if err != nil {
				return nil, err
			}
			if !ok {
				c.chunks[at-1].gone = true
				continue
			}
		}
		left = append(left, at)
	}
	return left, nil
}

// recordsGone counts the copied records that are overwritten in the source.
func (c *copier) recordsGone() (n int64, err error) {
	written := *c.now()
	written.R = c.dst
	for i := range c.chunks {
		k := &c.chunks[i]
		if !k.gone || k.Kind != format.ChunkRecords {
			continue
		}
		copied, ok, bad, err := written.ReadChunk(c.first, int64(i+1)*c.cs)
		if err != nil {
			return 0, err
		}
		if ok && bad == nil {
			n += count(&copied)
		}
	}
	return n, nil
}

// count returns how many records there are in a chunk, as the recorder counts
// them: an end apart is part of its scope, and anchors are the recorder's own.
func count(c *chunks.Chunk) (n int64) {
	for w := c.Records(); w.Next(); {
		if k := w.Kind(); k != format.KindEnd && k != format.KindAnchor {
			n++
		}
	}
	return n
}
