package gowire

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"
)

// Generation is a part of a trace that can be read alone.
type Generation struct {
	Version int
	Number  uint64 // as the batches have it
	// Cut is why it ends before its end; nil where it does not. io.ErrUnexpectedEOF: the
	// trace ends there.
	Cut error

	head   [HeaderSize]byte
	blocks [][]byte // none of its batches lies in two
	size   int
}

// maxGeneration bounds the bytes of one generation. The busiest programs write a tenth.
const maxGeneration = 256 << 20

// blockSize is what a block has room for, but for the first ones of a generation: a trace may have
// many generations, of next to nothing. There is room for any batch.
const blockSize = 2 * maxBatch

// blocks are those that nobody needs any more. Memory that is used again is neither cleared nor
// collected, and blocks are not copied while a generation grows.
var blocks = sync.Pool{New: func() any { return new([blockSize]byte) }}

// add adds a copy of whole batches, or at the end of what there is of one.
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

// Free gives the memory back: nothing of the generation is used any more, nor any of its batches.
func (g *Generation) Free() {
	for _, b := range g.blocks {
		if cap(b) == blockSize {
			blocks.Put((*[blockSize]byte)(b[:blockSize]))
		}
	}
	g.blocks = nil
}

// Size is how many bytes it has, without a header.
func (g *Generation) Size() int64 { return int64(g.size) }

// Blocks are the bytes of it, one after the other.
func (g *Generation) Blocks() [][]byte { return g.blocks }

// Reader reads it as a trace of its own, with a header.
func (g *Generation) Reader() io.Reader {
	list := []io.Reader{bytes.NewReader(g.head[:])}
	for _, b := range g.blocks {
		list = append(list, bytes.NewReader(b))
	}
	return io.MultiReader(list...)
}

// WithoutRegions reads it as Reader does, with a value of the heap in the place of each begin and
// end of a region. Otherwise a region that the program ends twice, or on another goroutine, would
// keep all that goroutines did from being read.
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

// withoutRegions is WithoutRegions of one batch. What can't be read stays as it is.
func withoutRegions(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		n, ok := Args(b[0])
		if !ok {
			break
		}
		ends := [6]int{1} // behind the kind, the time and each number
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
