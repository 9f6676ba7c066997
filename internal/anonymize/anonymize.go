package anonymize

import (
	"fmt"
	"io"
	"sync"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/inorder"
)

// Result counts what was copied and what was left out.
type Result struct {
	Chunks  int
	Names   int   // texts of name blocks that were hashed
	Dropped int64 // chunks, blocks and records that made no sense and were left out
	GoTrace int64 // bytes of Go execution traces, which are left out: they are full of names
	Files   int64 // bytes of stored files, which are left out: they are the program
}

// Write writes the trace in r, of size bytes, to w without anything that identifies its owner.
// Equal texts become equal hashes; in two traces too, if salt is the same and not empty. An empty
// salt stands for a random one, which is not kept.
//
// The trace must not change meanwhile.
func Write(w io.Writer, r io.ReaderAt, size int64, salt string) (Result, error) {
	a := &anonymizer{r: r, size: size, hash: newHasher(salt), moves: map[int]moves{}, numbers: map[int64]numbered{}}
	if err := a.open(); err != nil {
		return Result{}, err
	}
	var all Result
	var err error
	inorder.Each(a.places, func(at int, c *chunkCopy) { c.make(a, at) }, func(_ int, c *chunkCopy) bool {
		all.add(&c.result)
		if err = c.err; err == nil {
			_, err = w.Write(c.out)
		}
		return err == nil
	})
	return all, err
}

func (r *Result) add(o *Result) {
	r.Chunks += o.Chunks
	r.Names += o.Names
	r.Dropped += o.Dropped
	r.GoTrace += o.GoTrace
	r.Files += o.Files
}

// anonymizer makes one copy.
type anonymizer struct {
	r      io.ReaderAt
	size   int64
	hash   *hasher
	header format.Header
	cs     int64
	file   chunks.File
	places int // of chunks

	numbers map[int64]numbered // of a ring: the places of its chunks of records
	find    func(number, start int64) (at int, ok bool)

	mu    sync.Mutex
	moves map[int]moves // new places of records, by place of their chunk, for some chunks
}

// chunkCopy copies one chunk after the other.
type chunkCopy struct {
	*anonymizer
	in, out []byte // a chunk, and its copy
	other   []byte // a chunk that is read meanwhile
	slots   []format.Slot
	values  []format.Value
	ext     []byte
	result  Result
	err     error
}

// numbered is a chunk of a ring.
type numbered struct {
	at    int
	since int64
}

// open reads the header, and finds the end of the trace.
func (a *anonymizer) open() error {
	var b [format.StateOffset + format.StateSize]byte
	n, err := a.readAt(b[:], 0)
	if err != nil {
		return err
	}
	var s format.State
	if a.header, s, err = format.DecodeHeader(b[:n]); err != nil {
		return fmt.Errorf("reading its header: %w", err)
	}
	if err := a.header.Within(a.size); err != nil {
		return err
	}
	a.cs = int64(a.header.ChunkSize)
	a.file = chunks.Of(a.r, a.size, &a.header, &s)
	a.places = 1
	a.find = a.inOrder
	if a.header.Ring > 0 {
		a.find = a.inRing
	}
	return a.index(min(s.End, a.size))
}

func (a *anonymizer) index(end int64) error {
	return a.file.Each(a.cs, end, func(off int64) (bool, error) {
		h, ok, bad, err := a.file.Head(off)
		if err != nil {
			return false, fmt.Errorf("reading at offset %d: %w", off, err)
		}
		at, ok := int(off/a.cs), ok && bad == nil
		if ok || off+a.cs <= end {
			a.places = at + 1
		}
		if ok && h.Kind == format.ChunkRecords {
			if was, twice := a.numbers[int64(h.Number)]; !twice || was.since < h.Since {
				a.numbers[int64(h.Number)] = numbered{at, h.Since}
			}
		}
		return ok, nil
	})
}

// make copies the chunk at the place at.
func (a *chunkCopy) make(of *anonymizer, at int) {
	if a.anonymizer == nil {
		*a = chunkCopy{anonymizer: of, in: make([]byte, of.cs), out: make([]byte, of.cs), other: make([]byte, of.cs)}
	}
	a.result = Result{}
	clear(a.out)
	if at > 0 {
		a.err = a.chunk(at)
	} else if _, a.err = a.readAt(a.in, 0); a.err == nil {
		a.fileHeader()
	}
}

// readAt fills b with the bytes at off, and with zeros from the end of the file.
func (a *anonymizer) readAt(b []byte, off int64) (int, error) {
	n, err := chunks.ReadFull(a.r, b, off)
	if err != nil {
		return n, fmt.Errorf("reading at offset %d: %w", off, err)
	}
	return n, nil
}

// readChunk reads the chunk at the place at into b. bad is why it makes no sense.
func (a *anonymizer) readChunk(b []byte, at int) (c chunks.Chunk, ok bool, bad, err error) {
	c, ok, bad, err = a.file.ReadChunk(b, int64(at)*a.cs)
	if err != nil {
		err = fmt.Errorf("reading at offset %d: %w", int64(at)*a.cs, err)
	}
	return c, ok, bad, err
}

// chunk copies the chunk at the place at.
func (a *chunkCopy) chunk(at int) error {
	c, ok, bad, err := a.readChunk(a.in, at)
	if err != nil {
		return err
	}
	if bad != nil || ok && c.Kind != format.ChunkRecords && c.Kind != format.ChunkBlocks {
		a.result.Dropped++
		return nil
	}
	if !ok {
		return nil
	}
	a.result.Chunks++
	b, h := a.out[:format.ChunkHeaderSize], c.ChunkHeader
	if h.Kind == format.ChunkRecords {
		b, err = a.records(b, c.Records())
	} else {
		b, err = a.blocks(b, c.Blocks())
	}
	if err != nil {
		return err
	}
	if int64(len(b)) > a.cs { // a cut chunk would be invalid
		return fmt.Errorf("at offset %d: %w: the chunk no longer fits its place", int64(at)*a.cs, format.ErrCorrupt)
	}
	if h.Sealed != 0 {
		h.Sealed = int64(len(b))
	}
	format.PutChunkHeader(a.out, &h)
	return nil
}
