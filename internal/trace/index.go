package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	_ "github.com/scopeview/scopeview/internal/pack"
)

// chunkFile returns the file in its present state.
func (t *Trace) chunkFile() *chunks.File {
	f := chunks.Of(t.r, t.size, &t.header, &t.state)
	return &f
}

// maxIndexRoom bounds the room allocated for chunks that may not exist: 64 GiB of them.
const maxIndexRoom = 1 << 20

// readIndex reads the headers of all chunks. A chunk whose magic is zero was not handed out, or its
// writer was stopped before it stored the magic: those before the last valid one are reported as a
// problem, those behind it are the prepared window. In a ring places that are due for reuse can be
// anywhere.
func (t *Trace) readIndex() error {
	cs := int64(t.header.ChunkSize)
	t.used = cs
	// The writer's count, as far as the file has room for it.
	t.chunks = make([]chunkInfo, 0, min(max(min(t.state.End, t.size)/cs, 0), maxIndexRoom))
	err := t.chunkFile().Each(cs, t.state.End, func(at int64) (bool, error) {
		_, born, err := t.indexChunk(at)
		if born && err == nil {
			t.openProblems.add(textUnborn, t.used, t.addr.unused(t.used, at)/cs)
			t.used = at + cs
		}
		return born, err
	})
	if err == nil {
		t.findNext()
		t.openProblems.add(textUnborn, 0, t.lackingChunks())
	}
	return err
}

// lackingChunks counts the chunks of a ring that must exist between others, by their numbers:
// chunks handed out at the state's until or later are not overwritten.
func (t *Trace) lackingChunks() (n int64) {
	if t.header.Ring == 0 || t.state.Closed {
		return 0
	}
	for i := range max(len(t.chunks)-1, 0) {
		a, b := &t.chunks[i], &t.chunks[i+1]
		from, to := t.addr.number(a), t.addr.number(b)
		if from > 0 && to > from && a.Gen == b.Gen && a.Since >= t.state.Until && b.Since >= a.Since {
			n += int64(to - from - 1)
		}
	}
	return n
}

// indexChunk reads the header of the chunk at the place at. born is false if none was handed out
// there; c is the entry added to the index, nil if the chunk is invalid.
func (t *Trace) indexChunk(at int64) (c *chunkInfo, born bool, err error) {
	h, ok, bad, err := t.chunkFile().Settled(at)
	if err != nil {
		return nil, false, ioError(t.path, at, err)
	}
	if bad == nil && !ok {
		return nil, false, nil
	}
	var loc format.Loc
	if bad == nil {
		loc, bad = t.addr.loc(at, &h)
	}
	if errors.Is(bad, format.ErrLost) {
		t.openProblems.add(textLost, at, 1)
		return nil, true, nil
	}
	if bad != nil {
		t.openProblems.add("a chunk with an invalid header is skipped ("+bad.Error()+")", at, 1)
		return nil, true, nil
	}
	if h.Kind != format.ChunkRecords && h.Kind != format.ChunkBlocks {
		t.openProblems.add(fmt.Sprintf("a chunk of unknown kind %d is skipped", h.Kind), at, 1)
		return nil, true, nil
	}
	c = &chunkInfo{ChunkID: h.ID(), loc: loc, at: at, flags: h.Flags, owner: h.Owner, path: uint8(h.Path)}
	if n := len(t.chunks); n == 0 || t.chunks[n-1].loc < loc {
		t.chunks = append(t.chunks, *c)
		return c, true, nil
	}
	i, twice := t.findChunk(loc)
	if !twice {
		t.chunks = slices.Insert(t.chunks, i, *c)
		return c, true, nil
	}
	other := &t.chunks[i]
	if cmp.Or(cmp.Compare(c.Gen, other.Gen), cmp.Compare(c.Since, other.Since)) <= 0 {
		t.openProblems.add(textTwin, at, 1)
		return nil, true, nil
	}
	t.openProblems.add(textTwin, other.at, 1)
	*other = *c
	return c, true, nil
}

func (t *Trace) findChunk(loc format.Loc) (i int, ok bool) {
	return slices.BinarySearchFunc(t.chunks, loc, func(c chunkInfo, loc format.Loc) int { return cmp.Compare(c.loc, loc) })
}
