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

// file is the trace file, with the files that hold its places.
type file struct {
	f *os.File
	files
}

// files maps a place to its file, nil if that is closed, deleted or not created, and the offset in
// it. The neighbours in an extent are in one file.
type files interface {
	at(place int64) (f *os.File, off int64)
}

// createFile is a function that creates the file of a place without one. count updates the trace's count
// of overwritten chunks.
type createFile func(place int64, count func() error) (*os.File, error)

// oneFile is the trace file where it holds all places.
type oneFile struct{ f *os.File }

func (o oneFile) at(place int64) (*os.File, int64) { return o.f, place * ChunkSize }

// errNoFile means that a chunk's file is closed, which is a bug in our accounting.
var errNoFile = errors.New("the chunk's file is closed")

// copier writes chunks from memory to the trace file. Names and other things that records refer to
// lie in chunks for blocks: these are in the file no later than the records. Otherwise a kill would
// leave records without names there.
type copier struct {
	to     file
	memory func(idx int64) []uint64 // a chunk's; nil: it has none, the file has the whole chunk
	buf    []byte
	block  []byte                // for chunks for blocks
	last   map[int64]uint32      // by place: checksum of the last copy of a chunk that may change
	fail   atomic.Pointer[error] // why the last chunk could not be written; nil: it was written

	// loading is held while a chunk is loaded or evicted, so that the right chunk is loaded. It is
	// never held while the file is written.
	loading sync.Mutex

	mu     sync.Mutex
	blocks []extent // chunks for blocks that were handed out and are not yet whole in the file

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

// copy writes the chunks in their present state.
func (c *copier) copy(s extent, final bool) error {
	if c.buf == nil {
		c.buf, c.block, c.last = sys.OffHeap[byte](c, ChunkSize), sys.OffHeap[byte](c, ChunkSize), map[int64]uint32{}
	}
	c.mu.Lock()
	blocks := slices.Clone(c.blocks)
	c.mu.Unlock()
	if final { // blocks that they refer to were in place before they were complete
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

// load copies a chunk and reports whether it is in memory and at that place: its number may belong
// to another chunk by now.
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

// maxKept is the largest number of chunks in memory. Chunks that a full or slow disk does not
// accept must not fill the machine's memory instead.
const maxKept = 2 * maxWindow

// maxWarm is the number of released chunks whose memory is kept for the next ones. The rest is
// freed: a burst's memory is not held for ever, nor withheld from the program.
const maxWarm = 8 << 20 / ChunkSize

// write writes b, the contents of the chunk idx, to its place in the file. It skips a chunk that
// may still change and has not changed since the last copy: an idle program must not keep a disk
// busy.
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
	// The counters first, or a kill in between leaves a state that counts more. Others write to the
	// part between the two.
	if err := c.part(b[format.CountersOffset:], 0, countersPart, format.CountersOffset, final); err != nil {
		return err
	}
	return c.part(b[:format.ControlOffset], 0, 0, 0, final)
}

// countersPart is the key in last of the counters in chunk 0, which has two parts.
const countersPart = -1

// part writes the part of the chunk at the place at that begins at offset from.
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
			// would then announce records that are missing. Go does not report how many. Pages that
			// wipe can't write do not exist, and read as zero.
			_ = wipe(f, off)
		}
	}
	if err != nil {
		failed := fmt.Errorf("writing %s: %w", c.to.f.Name(), err) // err itself must not escape to the heap
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

// behind returns the reason why n chunks wait in memory: the disk is slow, or refuses them.
func (c *copier) behind(n int64) error {
	err := errBehind
	if p := c.fail.Load(); p != nil {
		err = *p
	}
	return fmt.Errorf("%d bytes wait in memory: %w", n*ChunkSize, err)
}
