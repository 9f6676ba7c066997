package pool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/sys"
)

// file is the trace file, with those that have its places.
type file struct {
	f *os.File
	files
}

// files say where a place is: in which file, nil if it is closed, gone or not made, and where there.
// Neighbours that were joined to an extent are in one file.
type files interface {
	at(place int64) (f *os.File, off int64)
}

// creates makes the file of a place that has none. tell has the trace say what is overwritten.
type creates func(place int64, tell func() error) (*os.File, error)

// oneFile is the trace file where all places are in it.
type oneFile struct{ f *os.File }

func (o oneFile) at(place int64) (*os.File, int64) { return o.f, place * ChunkSize }

// errNoFile is a chunk whose file is closed. It means that our accounting is wrong.
var errNoFile = errors.New("the chunk's file is closed")

// copier writes chunks from memory to the trace file. What records refer to, names and
// the like, is in chunks for blocks: the file has it no later than the records. Or a
// kill would leave records there that have no name.
type copier struct {
	to     file
	memory func(idx int64) []uint64 // a chunk's; nil: it has none, the file has all of it
	buf    []byte
	block  []byte                // buf of chunks for blocks
	last   map[int64]uint32      // by place: checksum of what was written of a chunk that may change
	fail   atomic.Pointer[error] // why the last chunk could not be written; nil: it was

	// loading is held while a chunk is loaded, or evicted: what is loaded is that chunk. It is
	// never held while the file is written.
	loading sync.Mutex

	mu     sync.Mutex
	blocks []extent // chunks for blocks that were handed out and are not whole in the file

	overwriting // of a ring
}

// noBlocks forgets a chunk for blocks; c.mu is held.
func (c *copier) noBlocks(idx int64) {
	kept := c.blocks[:0]
	for _, b := range c.blocks { // slices.DeleteFunc would make the program a kilobyte larger
		if b.idx != idx {
			kept = append(kept, b)
		}
	}
	c.blocks = kept
}

// hasBlocks notes that a chunk at a place was handed out for blocks.
func (c *copier) hasBlocks(idx, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks = append(c.blocks, extent{idx, at, 1})
}

// copy writes the chunks as they are now.
func (c *copier) copy(s extent, final bool) error {
	if c.buf == nil {
		c.buf, c.block, c.last = sys.OffHeap[byte](c, ChunkSize), sys.OffHeap[byte](c, ChunkSize), map[int64]uint32{}
	}
	c.mu.Lock()
	blocks := slices.Clone(c.blocks)
	c.mu.Unlock()
	if final { // what they refer to was in its place before they were whole
		if err := c.writeBlocks(blocks); err != nil {
			return err
		}
	}
	for i := range s.n {
		idx, at := s.idx+i, s.at+i
		if !c.load(c.buf, idx, at) {
			continue
		}
		isBlock := idx == 0 || slices.Contains(blocks, extent{idx, at, 1})
		if !final && !isBlock {
			c.mu.Lock()
			blocks = append(blocks[:0], c.blocks...) // there may be one more by now
			c.mu.Unlock()
			if err := c.writeBlocks(blocks); err != nil {
				return err
			}
		}
		if err := c.write(c.buf, idx, at, final); err != nil {
			return err
		}
		if final && isBlock {
			c.mu.Lock()
			c.noBlocks(idx)
			c.mu.Unlock()
		}
	}
	return nil
}

func (c *copier) writeBlocks(blocks []extent) error {
	for _, b := range blocks {
		if c.load(c.block, b.idx, b.at) && binary.LittleEndian.Uint64(c.block) != 0 {
			if err := c.write(c.block, b.idx, b.at, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// load copies a chunk, and reports whether it is in memory, and at that place: its number may
// be another chunk's by now.
func (c *copier) load(b []byte, idx, at int64) bool {
	c.loading.Lock()
	defer c.loading.Unlock()
	w := c.memory(idx)
	if w == nil || c.place != nil && c.place(idx) != at {
		return false
	}
	load(b, w)
	return true
}

// load copies a chunk. The words are loaded one by one, forwards: a record that is
// being written is seen whole or, its start being stored last, not at all.
func load(b []byte, w []uint64) {
	for i := range w {
		binary.LittleEndian.PutUint64(b[8*i:], atomic.LoadUint64(&w[i]))
	}
}

// maxKept is how many chunks may be in memory. What a disk that is full or slow
// does not take must not fill the machine's memory instead.
const maxKept = 2 * maxWindow

// maxWarm is how many chunks' memory stays for the next ones. The rest is given back:
// what a burst took is not held for ever, nor what the program needs itself.
const maxWarm = 8 << 20 / ChunkSize

// write writes b, what the chunk idx has, to its place in the file. A chunk that may
// still change, and has not since it was written, is left out: an idle program must
// not keep a disk busy.
func (c *copier) write(b []byte, idx, at int64, final bool) error {
	if c.settle != nil {
		if err := c.settle(at); err != nil {
			return err
		}
	}
	if idx != 0 {
		return c.part(b, idx, at, 0, final)
	}
	return c.parts(b, final)
}

// parts writes chunk 0.
func (c *copier) parts(b []byte, final bool) error {
	// The counters first, or a kill in between leaves a state that tells of more. What
	// lies between the two is not ours alone.
	if err := c.part(b[format.CountersOffset:], 0, countersPart, format.CountersOffset, final); err != nil {
		return err
	}
	return c.part(b[:format.ControlOffset], 0, 0, 0, final)
}

// countersPart is in last for the counters in chunk 0, which is in two parts.
const countersPart = -1

// part writes what begins at from in the chunk at the place at.
func (c *copier) part(b []byte, idx, at, from int64, final bool) error {
	sum := crc32.Checksum(b, castagnoli)
	was, written := c.last[at]
	if written && was == sum && !final {
		return nil
	}
	f, off := c.to.at(max(at, 0))
	if c.place != nil {
		c.has(at)
	}
	err := errNoFile
	if f == nil && c.create != nil {
		f, err = c.create(max(at, 0))
	}
	if f != nil {
		if _, err = newfile.WriteAt(f, b, off+from); err != nil && idx > 0 && !written {
			// A disk that has become full may have taken the first pages of the chunk, whose header
			// would tell of records that are not there. Go does not say how many. What this can't
			// write has no page, and is zero.
			_ = wipe(f, off)
		}
	}
	if err != nil {
		failed := fmt.Errorf("writing %s: %w", c.to.f.Name(), err) // err itself is not to be on the heap
		c.fail.Store(&failed)
		return failed
	}
	if final {
		delete(c.last, at)
	} else {
		c.last[at] = sum
	}
	c.fail.Store(nil)
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli) // the processor has it

// behind says why n chunks wait in memory: the disk is slow, or does not take
// them at all.
func (c *copier) behind(n int64) error {
	err := errBehind
	if p := c.fail.Load(); p != nil {
		err = *p
	}
	return fmt.Errorf("%d bytes wait in memory: %w", n*ChunkSize, err)
}
