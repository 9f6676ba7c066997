package mmpool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// heap keeps chunks as Go slices and copies them to the file: for file systems
// without mmap, systems without Linux's calls, and the race detector, which is
// blind in mapped memory.
type heap struct {
	f   *os.File
	dir [dirSize]atomic.Pointer[page]
	mu  sync.Mutex // a chunk is copied and written at once, or an old copy could come last
	buf []byte

	kept atomic.Int64          // chunks in memory
	fail atomic.Pointer[error] // why the last chunk could not be written; nil: it was
}

// maxKept is how many chunks may be in memory. What a disk that is full or slow
// does not take must not fill the program's memory instead.
const maxKept = 2 * maxWindow

const dirSize = 1 << 12

type page [1 << 12]atomic.Pointer[[]uint64]

func newHeap(f *os.File) *heap { return &heap{f: f} }

func (h *heap) base() uintptr { return 0 }

func (h *heap) addresses() *sys.Range { return nil }

func (h *heap) slot(idx int64) *atomic.Pointer[[]uint64] {
	if uint64(idx) >= dirSize*uint64(len(page{})) {
		return nil
	}
	p := h.dir[idx/int64(len(page{}))].Load()
	if p == nil {
		return nil
	}
	return &p[idx%int64(len(page{}))]
}

func (h *heap) words(idx int64) []uint64 {
	s := h.slot(idx)
	if s == nil {
		return nil
	}
	if w := s.Load(); w != nil {
		return *w
	}
	return nil
}

func (h *heap) extend(from, to int64) error {
	if n := h.kept.Load(); n+to-from > maxKept {
		err := errBehind
		if p := h.fail.Load(); p != nil {
			err = *p
		}
		return fmt.Errorf("%d bytes wait in memory: %w", n*ChunkSize, err)
	}
	h.kept.Add(to - from)
	for idx := from; idx < to; idx++ {
		d := &h.dir[idx/int64(len(page{}))]
		if d.Load() == nil {
			d.Store(new(page))
		}
		w := make([]uint64, ChunkSize/8)
		h.slot(idx).Store(&w)
	}
	return nil
}

func (h *heap) rearm(from, to int64) error { return nil }

// save copies the chunks as they are now. The words are loaded one by one: a
// record that is being written is seen whole or, its start being stored last,
// not at all.
func (h *heap) save(s span, final bool) error {
	for i := range s.n {
		if err := h.saveOne(s.idx+i, s.at+i); err != nil {
			return err
		}
	}
	return nil
}

func (h *heap) saveOne(idx, at int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.words(idx)
	if w == nil {
		return nil
	}
	if h.buf == nil {
		h.buf = make([]byte, ChunkSize)
	}
	// Forwards within a record: where its start is there, so is the rest.
	for i := range w {
		binary.LittleEndian.PutUint64(h.buf[8*i:], atomic.LoadUint64(&w[i]))
	}
	b := h.buf
	if idx == 0 {
		b = b[:format.ControlOffset] // what follows is not ours alone
	}
	if _, err := h.f.WriteAt(b, at*ChunkSize); err != nil {
		err = fmt.Errorf("writing %s: %w", h.f.Name(), err)
		h.fail.Store(&err)
		return err
	}
	h.fail.Store(nil)
	return nil
}

func (h *heap) settle(s span) error {
	if err := h.save(s, true); err != nil {
		return err // the chunks stay in memory, for the next try
	}
	h.drop(s.idx, s.n)
	return nil
}

func (h *heap) drop(idx, n int64) {
	for i := range n {
		if s := h.slot(idx + i); s != nil && s.Swap(nil) != nil {
			h.kept.Add(-1)
		}
	}
}

// grow does nothing: the file grows as it is written.
func (h *heap) grow(at, n int64) error { return nil }

func (h *heap) attach(idx, at, n int64) error { return h.extend(idx, idx+n) }

func (h *heap) detach(idx, n int64) error {
	h.drop(idx, n)
	return nil
}

func (h *heap) wipe(at, n int64) error {
	for i := range n {
		off := (at + i) * ChunkSize
		_, err := h.f.WriteAt(zeros[:format.ChunkHeaderSize], off)
		if err == nil {
			_, err = h.f.WriteAt(zeros[:], off)
		}
		if err != nil {
			return fmt.Errorf("overwriting %s: %w", h.f.Name(), err)
		}
	}
	return nil
}

var zeros [ChunkSize]byte

func (h *heap) unprepared() int64 { return 0 }

func (h *heap) free() (avail, total int64, err error) { return 0, 0, errors.ErrUnsupported }

// close lets go of the chunks too: the pool may be kept, for its numbers.
func (h *heap) close(size int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.dir {
		h.dir[i].Store(nil)
	}
	if err := h.f.Truncate(size); err != nil {
		return fmt.Errorf("cutting %s: %w", h.f.Name(), err)
	}
	return nil
}
