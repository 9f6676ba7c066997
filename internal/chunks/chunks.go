// Package chunks finds the chunks in a trace's file, for all readers. A place may have no chunk
// yet, or one that makes no sense. While the trace is being written, it may have another one at the
// next read.
package chunks

import (
	"errors"
	"io"

	"github.com/scopeview/scopeview/internal/format"
)

// unbornMax is the number of successive places without a chunk that are examined beyond the
// writer's own count of chunks: more than the longest prepared window. Without a bound a sparse
// file of a terabyte would be read to its end.
const unbornMax = 4096

// File is a trace's file and its layout.
type File struct {
	R      io.ReaderAt
	Size   int64 // bytes of it that exist
	Chunk  int64 // size of a chunk in bytes
	Ring   bool  // places are reused
	Closed bool  // the writer has ended the trace
}

// Of returns the file r of size bytes with the header h and the state s.
func Of(r io.ReaderAt, size int64, h *format.Header, s *format.State) File {
	return File{r, size, int64(h.ChunkSize), h.Ring != 0, s.Closed}
}

// ReadFull fills b with the bytes of r at off, and with zeros from the end of r. n is how many
// bytes r had.
func ReadFull(r io.ReaderAt, b []byte, off int64) (n int, err error) {
	n, err = r.ReadAt(b, off)
	clear(b[n:])
	if n == len(b) || errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Read is ReadFull that reads nothing beyond Size.
func (f *File) Read(b []byte, at int64) (n int, err error) {
	n = int(min(int64(len(b)), max(f.Size-at, 0)))
	clear(b[n:])
	return ReadFull(f.R, b[:n], at)
}

// A Chunk is a chunk that was read.
type Chunk struct {
	format.ChunkHeader
	Bytes []byte // the chunk, with zeros from where the file ends
	Had   int    // how many of them are in the file
}

// ReadChunk reads the chunk at the place at into b, which must have room for it. ok is false if
// none was handed out; bad, which wraps format.ErrCorrupt or is ErrLost, is why the chunk there
// makes no sense.
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

// Used returns how many bytes of a chunk of records are used, of those that are in the file.
func (c *Chunk) Used() int {
	return min(format.UsedBytes(c.Bytes, c.Sealed), c.Had&^(format.RecordSize-1))
}

// Records begins a walk over the chunk's records.
func (c *Chunk) Records() format.Walk { return format.WalkRecords(c.Bytes[:c.Used()]) }

// Blocks begins a walk over the chunk's blocks.
func (c *Chunk) Blocks() format.BlockWalk { return c.BlocksFrom(format.ChunkHeaderSize) }

// BlocksFrom is Blocks, starting at the block at an offset in the chunk.
func (c *Chunk) BlocksFrom(off int) format.BlockWalk {
	return format.WalkBlocks(format.BlockBytes(c.Bytes[:c.Had], c.Sealed), off)
}

// Head is ReadChunk for the chunk's header only.
func (f *File) Head(at int64) (h format.ChunkHeader, ok bool, bad, err error) {
	var b [format.ChunkHeaderSize]byte
	c, ok, bad, err := f.ReadChunk(b[:], at)
	return c.ChunkHeader, ok, bad, err
}

// Has reports whether the place at has the chunk id. A place is zeroed before it is handed out
// again, its header first: if Has is true, what was read before it belongs to that chunk.
func (f *File) Has(at int64, id format.ChunkID) (bool, error) {
	h, ok, bad, err := f.Head(at)
	return ok && bad == nil && err == nil && h.ID() == id, err
}

// Settled is Head of a single moment: while the trace is written, one read may mix two.
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
		for range 4 { // it may be being zeroed, or handed out again
			was := h
			if h, ok, bad, err = f.Head(at); err != nil || bad == nil && (!ok || h == was) {
				break
			}
		}
	}
	return h, ok, bad, err
}

// Next returns the next place behind at that can have a chunk; the result is Size, or more, if
// there is none. It skips holes in the file: a sparse file has millions of such places.
func (f *File) Next(at int64) int64 {
	at += f.Chunk
	if s, ok := f.R.(interface{ NextData(off int64) int64 }); ok && at < f.Size {
		data := min(s.NextData(at), f.Size)
		at = max(at, data-data%f.Chunk)
	}
	return at
}

// Each calls look with the places that may have a chunk, from the place from on, up to where none
// was handed out. end is how far the writer has come, by its own count. look reports whether a
// chunk was handed out there.
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
