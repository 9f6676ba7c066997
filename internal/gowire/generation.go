package gowire

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"
)

// Generation is a part of a trace that can be read on its own.
type Generation struct {
	Version int
	Number  uint64 // the number in its batches
	// Cut is the reason why the generation ends early, or nil. It is io.ErrUnexpectedEOF if the
	// trace ends there.
	Cut error

	head   [HeaderSize]byte
	blocks [][]byte // no batch spans two of them
	size   int
}

// maxGeneration limits the bytes of one generation. The busiest programs write a tenth of it.
const maxGeneration = 256 << 20

// blockSize is the size of a block, except for the first ones of a generation, which are smaller
// because a trace may have many small generations. Any batch fits.
const blockSize = 2 * maxBatch

// blocks has unused blocks. Reused memory is neither cleared nor collected, and blocks are not
// copied while a generation grows.
var blocks = sync.Pool{New: func() any { return new([blockSize]byte) }}

// add appends a copy of whole batches, or at the end of the bytes of an incomplete one.
func (g *Generation) add(b []byte) {
	n := len(g.blocks)
	if n == 0 || cap(g.blocks[n-1])-len(g.blocks[n-1]) < len(b) {
		if room := max(leastRead<<n, len(b)); n < 8 && room < blockSize {
			g.blocks = append(g.blocks, make([]byte, 0, room))
		} else {
			g.blocks = append(g.blocks, blocks.Get().(*[blockSize]byte)[:0])
		}
		n++
	}
	g.blocks[n-1] = append(g.blocks[n-1], b...)
	g.size += len(b)
}

// Free releases the memory. The generation and its batches must not be used afterwards.
func (g *Generation) Free() {
	for _, b := range g.blocks {
		if cap(b) == blockSize {
			blocks.Put((*[blockSize]byte)(b[:blockSize]))
		}
	}
	g.blocks = nil
}

// Size returns the number of bytes, without the header.
func (g *Generation) Size() int64 { return int64(g.size) }

// Blocks returns the bytes, one block after the other.
func (g *Generation) Blocks() [][]byte { return g.blocks }

// Reader returns a reader of the generation as a trace of its own, with a header.
func (g *Generation) Reader() io.Reader {
	list := []io.Reader{bytes.NewReader(g.head[:])}
	for _, b := range g.blocks {
		list = append(list, bytes.NewReader(b))
	}
	return io.MultiReader(list...)
}

// WithoutRegions is like Reader, with a value of the heap in place of each begin and end of a
// region. Otherwise a region that the program ends twice, or on another goroutine, would stop the
// decoder.
func (g *Generation) WithoutRegions() io.Reader {
	out := bytes.Clone(g.head[:])
	for _, b := range g.blocks {
		for len(b) > 0 {
			x, size, err := Next(b)
			if err != nil || size == 0 {
				out = append(out, b...)
				break
			}
			if plain := !x.End && !x.Experimental && len(x.Data) > 0 && x.Data[0] > Frequency && x.Data[0] != Sync; plain {
				data := withoutRegions(x.Data)
				out = append(out, BatchBegin)
				for _, v := range []uint64{x.Generation, x.Thread, x.Time, uint64(len(data))} {
					out = binary.AppendUvarint(out, v)
				}
				out = append(out, data...)
			} else {
				out = append(out, b[:size]...)
			}
			b = b[size:]
		}
	}
	return bytes.NewReader(out)
}

// withoutRegions is WithoutRegions for one batch. Bytes that can't be read stay as they are.
func withoutRegions(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		n, ok := Args(b[0])
		if !ok {
			break
		}
		ends := [6]int{1} // after the kind, the time and each number
		for i := range n + 1 {
			_, size := binary.Uvarint(b[ends[i]:])
			if size <= 0 {
				return append(out, b...)
			}
			ends[i+1] = ends[i] + size
		}
		if b[0] == UserRegionBegin || b[0] == UserRegionEnd {
			out = append(append(append(out, HeapAlloc), b[1:ends[1]]...), 0)
		} else {
			out = append(out, b[:ends[n+1]]...)
		}
		b = b[ends[n+1]:]
	}
	return append(out, b...)
}
