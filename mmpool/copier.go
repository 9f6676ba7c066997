package mmpool

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// copier writes chunks from memory to the trace file.
type copier struct {
	f    *os.File
	buf  []byte
	fail atomic.Pointer[error] // why the last chunk could not be written; nil: it was
}

// maxKept is how many chunks may be in memory. What a disk that is full or slow
// does not take must not fill the machine's memory instead.
const maxKept = 2 * maxWindow

// write copies the chunk idx, whose memory is w, to its place in the file, as it
// is now. The words are loaded one by one: a record that is being written is seen
// whole or, its start being stored last, not at all.
func (c *copier) write(w []uint64, idx, at int64) error {
	if c.buf == nil {
		c.buf = make([]byte, ChunkSize)
	}
	// Forwards within a record: where its start is there, so is the rest.
	for i := range w {
		binary.LittleEndian.PutUint64(c.buf[8*i:], atomic.LoadUint64(&w[i]))
	}
	b := c.buf
	if idx == 0 {
		b = b[:format.ControlOffset] // what follows is not ours alone
	}
	if _, err := c.f.WriteAt(b, at*ChunkSize); err != nil {
		err = fmt.Errorf("writing %s: %w", c.f.Name(), err)
		c.fail.Store(&err)
		return err
	}
	c.fail.Store(nil)
	return nil
}

// behind says why n chunks wait in memory: the disk is slow, or does not take
// them at all.
func (c *copier) behind(n int64) error {
	err := errBehind
	if p := c.fail.Load(); p != nil {
		err = *p
	}
	return fmt.Errorf("%d bytes wait in memory: %w", n*ChunkSize, err)
}
