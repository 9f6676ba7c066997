package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	_ "github.com/scopeview/scopeview/internal/pack" // registers the reader of packed traces with package hot
)

// Open reads the index of a trace of size bytes. Errors wrap format.ErrNotTrace, ErrEmpty, ErrNewer
// or are a *corruptError.
func Open(r io.ReaderAt, size int64) (*Trace, error) { return open(r, size, "") }

// OpenFile opens path, joined with its hot file if there is one; Close closes both.
func OpenFile(path string) (*Trace, error) { return OpenFileUntil(context.Background(), path) }

// OpenFileUntil is OpenFile for a trace that can be read until ctx is done: from then on reads fail
// with the context's error.
func OpenFileUntil(ctx context.Context, path string) (*Trace, error) {
	f, err := hot.Open(path)
	if err != nil {
		return nil, err
	}
	return openUntil(ctx, f, path)
}

// OpenJoined is OpenFileUntil for a file that is open already, which Close closes. An error closes
// it too.
func OpenJoined(ctx context.Context, f *hot.File) (*Trace, error) { return openUntil(ctx, f, f.Name()) }

func openUntil(ctx context.Context, f *hot.File, path string) (*Trace, error) {
	size, err := f.Size()
	var t *Trace
	if err == nil {
		t, err = open(&Reading{File: f, Until: ctx}, size, path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	t.closer = f
	return t, nil
}

// Reading is a trace's file that can be read until a context is done.
type Reading struct {
	*hot.File
	Until context.Context
}

// ReadAt reads from the file, or returns the context's error.
func (r *Reading) ReadAt(b []byte, off int64) (int, error) {
	if err := r.Until.Err(); err != nil {
		return 0, err
	}
	return r.File.ReadAt(b, off)
}

// Close closes the file that OpenFile opened.
func (t *Trace) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

func open(r io.ReaderAt, size int64, path string) (*Trace, error) {
	t := &Trace{r: r, path: path, size: size, found: problems{}, inEvents: problems{}}
	t.names.Store(&nameTable{})
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	if f, ok := r.(interface{ Trace() *os.File }); ok && !t.state.Closed {
		alive, known := WriterAlive(f.Trace())
		t.grows = alive || !known
	}
	if err := t.readIndex(); err != nil {
		return nil, err
	}
	if err := t.readBlocks(); err != nil {
		return nil, err
	}
	t.tellRestart()
	t.settle()
	if err := t.lastMoment(); err != nil {
		return nil, err
	}
	if err := t.readCounters(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Trace) readHeader() error {
	var b [format.StateOffset + format.StateSize]byte
	n := min(max(t.size, 0), int64(len(b)))
	got, err := chunks.ReadFull(t.r, b[:n], 0)
	if err != nil {
		return ioError(t.path, 0, err)
	}
	if t.header, t.state, err = format.DecodeHeader(b[:got]); err != nil {
		return headerError(t.path, err)
	}
	if err := t.header.Within(t.size); err != nil {
		return &corruptError{Path: t.path, Offset: t.size, Err: err}
	}
	t.addr = addressesOf(t)
	if s, ok := t.r.(interface{ MissingSegments() int64 }); ok {
		if n := s.MissingSegments(); n > 0 {
			t.found.add(textSegment, 0, n)
		}
	}
	if t.header.Segments > 0 {
		t.found.add(textApart, 0, 1)
	}
	t.checkSize()
	return nil
}

// checkSize adds the problems of a file that is too short.
func (t *Trace) checkSize() {
	cs := int64(t.header.ChunkSize)
	if rest := t.size % cs; rest != 0 {
		t.found.add(fmt.Sprintf("the file is cut off: it ends %d bytes into a chunk", rest), t.size, 1)
	}
	switch behind := t.state.End - t.size; {
	case behind > 0 && t.Cool() && behind <= format.MaxHotSlots*cs:
		t.found.add(textCool, t.size, 1)
	case behind > 0 && t.header.Backing == format.BackingHeap && !t.state.Closed:
		t.found.add(textUncopied, t.size, 1)
	case behind > 0:
		t.found.add(fmt.Sprintf("the file is cut off: its writer had written %d bytes", t.state.End), t.size, 1)
	}
}

// places returns the file in its present state.
func (t *Trace) places() *chunks.File {
	f := chunks.Of(t.r, t.size, &t.header, &t.state)
	return &f
}

// mostAhead bounds the room allocated for chunks that may not exist: 64 GiB of them.
const mostAhead = 1 << 20

// readIndex reads the headers of all chunks. A chunk whose magic is zero was not handed out, or its
// writer was stopped before it stored the magic: those before the last valid one are reported as a
// problem, those behind it are the prepared window. In a ring places that are due for reuse can be
// anywhere.
func (t *Trace) readIndex() error {
	cs := int64(t.header.ChunkSize)
	t.used = cs
	// The writer's count, as far as the file has room for it.
	t.chunks = make([]chunkInfo, 0, min(max(min(t.state.End, t.size)/cs, 0), mostAhead))
	err := t.places().Each(cs, t.state.End, func(at int64) (bool, error) {
		_, born, err := t.indexChunk(at)
		if born && err == nil {
			t.found.add(textUnborn, t.used, t.addr.unused(t.used, at)/cs)
			t.used = at + cs
		}
		return born, err
	})
	if err == nil {
		t.findNext()
		t.found.add(textUnborn, 0, t.lackingChunks())
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
	h, ok, bad, err := t.places().Settled(at)
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
		t.found.add(textLost, at, 1)
		return nil, true, nil
	}
	if bad != nil {
		t.found.add("a chunk with an invalid header is skipped ("+bad.Error()+")", at, 1)
		return nil, true, nil
	}
	if h.Kind != format.ChunkRecords && h.Kind != format.ChunkBlocks {
		t.found.add(fmt.Sprintf("a chunk of unknown kind %d is skipped", h.Kind), at, 1)
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
		t.found.add(textTwin, at, 1)
		return nil, true, nil
	}
	t.found.add(textTwin, other.at, 1)
	*other = *c
	return c, true, nil
}

func (t *Trace) findChunk(loc format.Loc) (i int, ok bool) {
	return slices.BinarySearchFunc(t.chunks, loc, func(c chunkInfo, loc format.Loc) int { return cmp.Compare(c.loc, loc) })
}

// lastMoment finds t.last. A record can be later than the flusher's last round only if it, or its
// end, was written since: in a chunk that is not final, or in the last chunk of its owner.
func (t *Trace) lastMoment() error {
	type writer struct{ path, owner uint32 }
	newest := map[writer]int{}
	for i, c := range t.chunks {
		w := writer{uint32(c.path), c.owner}
		if last, ok := newest[w]; c.Kind == format.ChunkRecords && (!ok || c.Since >= t.chunks[last].Since) {
			newest[w] = i
		}
	}
	var buf chunkBuf
	ignored := problems{} // Events finds and counts them again
	for i, c := range t.chunks {
		if c.Kind != format.ChunkRecords || c.flags&format.FlagFinal != 0 && newest[writer{uint32(c.path), c.owner}] != i {
			continue
		}
		if err := t.readChunk(&buf, &c, ignored); err == errGone {
			continue
		} else if err != nil {
			return err
		}
		for s := buf.scan(); s.Next(); {
			r := s.Record()
			k := r.Kind().Spec()
			if k == nil {
				continue
			}
			t.last = max(t.last, r.Start)
			if k.Scope && r.Stop < format.MaxTicks {
				t.last = max(t.last, r.Stop)
			}
		}
	}
	return nil
}
