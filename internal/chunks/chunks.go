// Package chunks finds the chunks in a trace's file, for all who read one. A place may have
// none yet, or one that makes no sense. As long as somebody writes, it may have another one
// at the next look.
package chunks

import (
	"errors"
	"io"

	"github.com/scopeview/scopeview/internal/format"
)

// unbornMax is how many places without a chunk are looked at, one after another, beyond
// what the writer says it handed out: more than the longest prepared window. Without a
// bound a sparse file of a terabyte would be read to its end.
const unbornMax = 4096

// File is a trace's file as a reader finds it.
type File struct {
	R      io.ReaderAt
	Size   int64 // bytes of it that there are
	Chunk  int64 // bytes of a chunk
	Ring   bool  // places are used again
	Closed bool  // nobody writes any more
}

// Of returns the file r of size bytes, whose header says h and s.
func Of(r io.ReaderAt, size int64, h *format.Header, s *format.State) File {
	return File{r, size, int64(h.ChunkSize), h.Ring != 0, s.Closed}
}

// ReadFull fills b with what r has at off, and with zeros from where r ends. n is how much
// r had.
func ReadFull(r io.ReaderAt, b []byte, off int64) (n int, err error) {
	n, err = r.ReadAt(b, off)
	clear(b[n:])
	if n == len(b) || errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Read is ReadFull, and nothing beyond Size is read.
func (f *File) Read(b []byte, at int64) (n int, err error) {
	n = int(min(int64(len(b)), max(f.Size-at, 0)))
	clear(b[n:])
	return ReadFull(f.R, b[:n], at)
}

// A Chunk is one that was read.
type Chunk struct {
	format.ChunkHeader
	Bytes []byte // the chunk, with zeros from where the file ends
	Had   int    // how many of them the file had
}

// ReadChunk reads the chunk at the place at into b, which has room for it. ok is false where none was
// handed out; bad, which wraps format.ErrCorrupt or is ErrLost, is why the one there makes no sense.
func (f *File) ReadChunk(b []byte, at int64) (c Chunk, ok bool, bad, err error) {
	c.Bytes = b
	if c.Had, err = f.Read(b, at); err != nil {
		return c, false, nil, err
	}
	c.ChunkHeader, ok, bad = format.DecodeChunkHeader(b[:c.Had], at, uint32(f.Chunk))
	if format.IsLost(b[:c.Had]) {
		bad = format.ErrLost
	}
	return c, ok, bad, nil
}

// Used returns how many bytes of a chunk of records are used, of those that the file had.
func (c *Chunk) Used() int {
	return min(format.UsedBytes(c.Bytes, c.Sealed), c.Had&^(format.RecordSize-1))
}

// Records begins a walk over the chunk's records.
func (c *Chunk) Records() format.Walk { return format.WalkRecords(c.Bytes[:c.Used()]) }

// Blocks begins a walk over the chunk's blocks.
func (c *Chunk) Blocks() format.BlockWalk { return c.BlocksFrom(format.ChunkHeaderSize) }

// BlocksFrom is Blocks from the block at an offset in the chunk on.
func (c *Chunk) BlocksFrom(off int) format.BlockWalk {
	return format.WalkBlocks(format.BlockBytes(c.Bytes[:c.Had], c.Sealed), off)
}

// Head is ReadChunk for the chunk's header alone.
func (f *File) Head(at int64) (h format.ChunkHeader, ok bool, bad, err error) {
	var b [format.ChunkHeaderSize]byte
	c, ok, bad, err := f.ReadChunk(b[:], at)
	return c.ChunkHeader, ok, bad, err
}

// Has reports whether the place at has the chunk id. A place that is handed out again is
// zeroed first, its header before the rest: what was read before Has is then of that chunk.
func (f *File) Has(at int64, id format.ChunkID) (bool, error) {
	h, ok, bad, err := f.Head(at)
	return ok && bad == nil && err == nil && h.ID() == id, err
}

// Settled is Head of one moment: while somebody writes, one reading is none.
func (f *File) Settled(at int64) (h format.ChunkHeader, ok bool, bad, err error) {
	h, ok, bad, err = f.Head(at)
	switch {
	case err != nil || bad == nil && !ok || f.Closed:
	case !f.Ring:
		if h.Flags&format.FlagFinal == 0 {
			// The magic is stored last; only the next reading has all that was stored
			// before the magic.
			h, ok, bad, err = f.Head(at)
		}
	default:
		for range 4 { // it may just be zeroed, or handed out again
			was := h
			if h, ok, bad, err = f.Head(at); err != nil || bad == nil && (!ok || h == was) {
				break
			}
		}
	}
	return h, ok, bad, err
}

// Next returns the next place behind at that can have a chunk: Size, or more, if there is none.
// Those in holes of the file have none, and a sparse file has millions of them.
func (f *File) Next(at int64) int64 {
	at += f.Chunk
	if s, ok := f.R.(interface{ NextData(off int64) int64 }); ok && at < f.Size {
		data := min(s.NextData(at), f.Size)
		at = max(at, data-data%f.Chunk)
	}
	return at
}

// Each calls look with the places that may have a chunk, from the place from on, up to
// where none was handed out. end is how far the writer says it has come. look reports
// whether a chunk was handed out there.
func (f *File) Each(from, end int64, look func(at int64) (born bool, err error)) error {
	unborn := int64(0)
	for at := from; at < f.Size; {
		born, err := look(at)
		if err != nil {
			return err
		}
		next := at + f.Chunk
		if born {
			unborn = 0
		} else {
			next = f.Next(at)
			if unborn += (next - at) / f.Chunk; unborn > unbornMax && at > end {
				break
			}
		}
		at = next
	}
	return nil
}
