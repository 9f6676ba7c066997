package mmpool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// file is the trace file, as far as it is the same whether it is mapped or
// copied to, with those that have the places of its ring, if these are apart.
type file struct {
	f     *os.File
	files Files // nil: all is in f
}

// at is the file that has a place, and where; nil if that is closed. Neighbours that
// were joined by spans are in one file.
func (d file) at(place int64) (f *os.File, off int64) {
	if d.files != nil {
		return d.files.at(place)
	}
	return d.f, place * ChunkSize
}

// errNoFile is a chunk whose file is closed. It means that our accounting is wrong.
var errNoFile = errors.New("the chunk's file is closed")

// copier writes chunks from memory to the trace file.
type copier struct {
	to   file
	buf  []byte
	last map[int64]uint32      // checksum of what was written of chunks that may change
	fail atomic.Pointer[error] // why the last chunk could not be written; nil: it was
}

// maxKept is how many chunks may be in memory. What a disk that is full or slow
// does not take must not fill the machine's memory instead.
const maxKept = 2 * maxWindow

// write copies the chunk idx, whose memory is w, to its place in the file, as it
// is now. The words are loaded one by one: a record that is being written is seen
// whole or, its start being stored last, not at all. One that may still change, and
// has not since it was written, is left out: an idle program must not keep a disk busy.
func (c *copier) write(w []uint64, idx, at int64, final bool) error {
	if c.buf == nil {
		c.buf, c.last = make([]byte, ChunkSize), map[int64]uint32{}
	}
	// Forwards within a record: where its start is there, so is the rest.
	for i := range w {
		binary.LittleEndian.PutUint64(c.buf[8*i:], atomic.LoadUint64(&w[i]))
	}
	b := c.buf
	if idx == 0 {
		b = b[:format.ControlOffset] // what follows is not ours alone
	}
	sum := crc32.Checksum(b, castagnoli)
	if was, ok := c.last[idx]; ok && was == sum && !final {
		return nil
	}
	if final {
		delete(c.last, idx)
	}
	f, off := c.to.at(at)
	err := errNoFile
	if f != nil {
		_, err = f.WriteAt(b, off)
	}
	if err != nil {
		failed := fmt.Errorf("writing %s: %w", c.to.f.Name(), err) // err itself is not to be on the heap
		c.fail.Store(&failed)
		return failed
	}
	if !final {
		c.last[idx] = sum
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
