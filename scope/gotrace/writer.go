//go:build !scope_off

package gotrace

import (
	"errors"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
)

const (
	// partSize is how much of a stream is in a block. A block lies in one chunk of 64
	// KiB, so that of longer ones much of each chunk would be left empty.
	partSize = 8000
	// maxWaiting is what is kept in memory while there is no room in the trace.
	maxWaiting = 8 << 20
	// again is when it is tried again where there was no room: the flusher needs some
	// milliseconds to make more.
	again = time.Millisecond
	// patience is how long who ends a stream waits for that.
	patience = 200 * time.Millisecond
	// hopeless is when there will be no more: the trace is at its limit, or the disk full.
	hopeless = time.Second
)

var errRoom = errors.New("there was no room for it in the trace")

// writer cuts a stream into blocks. What it is given to write comes in whole batches.
type writer struct {
	rec     collect.Recording
	stream  uint32
	patient bool // who writes may be kept waiting; Go's tracer may not

	mu    sync.Mutex
	seq   uint32
	buf   []byte // not yet written
	block []byte
	since time.Time // since when there is no room; zero: there is
	tried time.Time // when it was tried last
	full  bool      // there was none for too long: all that follows is of no use
	shut  bool
	wrote int64     // how often something came
	cost  int64     // ns that it took the program, about
	last  time.Time // when it did
}

// Write takes everything.
func (w *writer) Write(p []byte) (int, error) {
	w.rec.Work(func() { w.write(p) })
	return len(p), nil
}

func (w *writer) write(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote++
	if ofStacks(p) {
		w.cost += perStackByte * int64(len(p))
	} else {
		w.cost += perByte * int64(len(p))
	}
	w.last = time.Now()
	if w.full || w.shut {
		return
	}
	w.buf = append(w.buf, p...)
	if w.since.IsZero() || w.last.Sub(w.tried) >= again {
		// One byte is the end of a generation, which is of no use without it.
		w.flush(len(p) == 1)
	}
	if w.patient {
		w.await()
	}
	if len(w.buf) > maxWaiting || w.patient && !w.since.IsZero() {
		w.giveUp()
	}
}

// flush writes what fills blocks, or all that there is. w.mu is held.
func (w *writer) flush(all bool) {
	done, refused := 0, false
	for len(w.buf)-done >= partSize || all && len(w.buf) > done {
		n := min(partSize, len(w.buf)-done)
		w.block = format.AppendGoTrace(w.block[:0], w.stream, w.seq, w.buf[done:done+n])
		if refused = !w.rec.Block(format.BlockGoTrace, w.block); refused {
			break
		}
		w.seq++
		done += n
	}
	w.buf = w.buf[:copy(w.buf, w.buf[done:])]
	if !refused {
		w.since = time.Time{}
		return
	}
	w.tried = time.Now()
	if w.since.IsZero() || done > 0 {
		w.since = w.tried
	}
	if w.tried.Sub(w.since) > hopeless {
		w.giveUp()
	}
}

// await gives the flusher time to make room. w.mu is held.
func (w *writer) await() {
	for end := time.Now().Add(patience); !w.full && !w.since.IsZero() && time.Now().Before(end); {
		time.Sleep(again)
		w.flush(false)
	}
}

func (w *writer) giveUp() { w.full, w.buf = true, nil }

// tick writes what waits, and tells how long ago something came, and whether there was
// no room.
func (w *writer) tick() (ago time.Duration, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.full {
		w.flush(true)
	}
	return time.Since(w.last), w.full
}

// count is how often something came, and how long ago.
func (w *writer) count() (n int64, ago time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote, time.Since(w.last)
}

// spent is what the program took for what came so far, in ns.
func (w *writer) spent() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cost
}

// close writes the rest. What comes later is dropped.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.full && !w.shut {
		w.flush(true)
		w.await()
		w.flush(true)
	}
	w.shut = true
	if w.full || len(w.buf) > 0 {
		w.giveUp()
		return errRoom
	}
	return nil
}
