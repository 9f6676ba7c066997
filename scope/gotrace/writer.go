//go:build !scope_off

package gotrace

import (
	"errors"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
)

// partSize is how much of a stream is in a block. A block lies in one chunk of 64 KiB, so
// that of longer ones much of each chunk would be left empty.
const partSize = 8000

var errRoom = errors.New("there was no room for it in the trace")

// writer cuts a stream into blocks. What it is given to write comes from the goroutine
// of Go's tracer, in whole batches.
type writer struct {
	rec    collect.Recording
	stream uint32

	mu    sync.Mutex
	seq   uint32
	buf   []byte // not yet written
	block []byte
	full  bool // there was no room, so that all that follows is of no use
	shut  bool
	wrote int64     // how often something came
	last  time.Time // when it did
}

// Write takes everything, so that it never keeps Go's tracer waiting.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote++
	w.last = time.Now()
	n := len(p)
	for len(p) > 0 && !w.full && !w.shut {
		k := min(partSize-len(w.buf), len(p))
		w.buf = append(w.buf, p[:k]...)
		if p = p[k:]; len(w.buf) == partSize {
			w.flush()
		}
	}
	if n == 1 {
		w.flush() // the end of a generation, which is of no use without it
	}
	return n, nil
}

// flush writes what is there. w.mu is held.
func (w *writer) flush() {
	if len(w.buf) == 0 || w.full || w.shut {
		return
	}
	w.block = format.AppendGoTrace(w.block[:0], w.stream, w.seq, w.buf)
	w.full = !w.rec.Block(format.BlockGoTrace, w.block)
	w.seq++
	w.buf = w.buf[:0]
}

// state tells how often something came, how long ago, and whether there was no room.
func (w *writer) state() (wrote int64, ago time.Duration, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote, time.Since(w.last), w.full
}

// close writes the rest. What comes later is dropped.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	w.shut = true
	if w.full {
		return errRoom
	}
	return nil
}
