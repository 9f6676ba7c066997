package pool

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/sys"
)

// heap keeps chunks as Go slices and copies them to the file: for file systems without mmap,
// systems without Linux's calls, and the race detector, which does not see mapped memory.
type heap struct {
	dir     [dirSize]atomic.Pointer[page]
	copying sync.Mutex // a chunk is copied and written at once, or an old copy could be written last
	copier
	kept    atomic.Int64  // chunks in memory
	most    int64         // of them
	allowed *atomic.Int64 // bytes of memory

	// Memory of chunks that are gone, for reuse. In a container all of it is kept: otherwise a
	// program with a large heap, collected rarely, would hold the memory of all chunks since the
	// last collection. A writer that still has the old chunk's memory does not mistake the new
	// records for its own: no two records have the same start. The race detector does not know
	// that, so its build reuses none.
	old chan *[]uint64
}

const dirSize = 1 << 12

type page [1 << 12]atomic.Pointer[[]uint64]

func newHeap(p *Pool, o *Options) *heap {
	h := &heap{most: maxKept, allowed: &p.allowed, old: make(chan *[]uint64, maxKept)}
	if o.Memory > 0 {
		h.most = o.Memory / ChunkSize
	}
	h.copier = copier{to: p.file, memory: h.words}
	h.erase = h.eraseIn(wipe)
	p.copies = &h.copier
	return h
}

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

func (h *heap) spare() (int64, error) {
	for h.memory() > h.allowed.Load() && len(h.old) > 0 {
		select {
		case <-h.old:
		default:
		}
	}
	return h.short(h.most, h.allowed.Load()/(heapFactor*ChunkSize), h.kept.Load())
}

func (h *heap) memory() int64 {
	return (h.kept.Load() + int64(len(h.old))) * heapFactor * ChunkSize
}

func (h *heap) attach(first, at, n int64) error {
	h.kept.Add(n)
	for idx := first; idx < first+n; idx++ {
		d := &h.dir[idx/int64(len(page{}))]
		if d.Load() == nil {
			d.CompareAndSwap(nil, new(page))
		}
		var w *[]uint64
		select {
		case w = <-h.old:
		default:
			b := make([]uint64, ChunkSize/8)
			w = &b
		}
		clear(*w) // fresh memory from Go has no pages yet, and a worker would fault them in
		h.slot(idx).Store(w)
	}
	return nil
}

func (h *heap) rearm(idx, n int64) error { return nil }

func (h *heap) save(s extent, final bool) error {
	h.copying.Lock()
	defer h.copying.Unlock()
	return h.copy(s, final)
}

func (h *heap) drop(s extent) error {
	if err := h.save(s, true); err != nil {
		return err // the chunks stay in memory, for the next attempt
	}
	h.forget(s.idx, s.n)
	return nil
}

func (h *heap) forget(idx, n int64) {
	for i := range n {
		s := h.slot(idx + i)
		if s == nil {
			continue
		}
		if w := s.Swap(nil); w != nil {
			h.kept.Add(-1)
			most := maxWarm
			if h.allowed.Load() != noMemoryLimit {
				most = cap(h.old)
			}
			if !sys.Race && len(h.old) < most && h.memory() < h.allowed.Load() {
				select {
				case h.old <- w:
				default:
				}
			}
		}
	}
}

// grow does nothing: the file grows as it is written.
func (h *heap) grow(at, n int64) error { return nil }

func (h *heap) detach(idx, n int64) error {
	h.forget(idx, n)
	return nil
}

func (h *heap) evict(idx, at int64) {
	h.loading.Lock()
	h.forget(idx, 1)
	h.loading.Unlock()
	h.evicted(idx, at)
}

// wipe overwrites a chunk in the file, its header first: without a header the rest is not read.
func wipe(f *os.File, off int64) error {
	_, err := newfile.WriteAt(f, zeros[:format.ChunkHeaderSize], off)
	if err == nil {
		_, err = newfile.WriteAt(f, zeros[:], off)
	}
	return err
}

var zeros [ChunkSize]byte

func (h *heap) free() (avail, total int64, err error) { return 0, 0, errors.ErrUnsupported }

// close releases the chunks too: the pool may be kept, for its numbers.
func (h *heap) close(size int64) error {
	h.copying.Lock()
	defer h.copying.Unlock()
	for i := range h.dir {
		h.dir[i].Store(nil)
	}
	return newfile.Truncate(h.to.f, size)
}
