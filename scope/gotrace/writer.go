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
	// partSize is the size of a stream's part in a block. A block lies within a chunk of
	// 64 KiB, so longer parts would leave much of each chunk empty.
	partSize = 8000
	// maxWaiting limits the bytes kept in memory while the trace has no room.
	maxWaiting = 8 << 20
	// again is the time before the next try when there was no room: the flusher needs some
	// milliseconds to make more.
	again = time.Millisecond
	// patience limits the wait of a stream's end for room.
	patience = 200 * time.Millisecond
	// hopeless is the time without room after which there will be none: the trace is at
	// its limit, or the disk full.
	hopeless = time.Second
)

var errRoom = errors.New("there was no room for it in the trace")

// writer cuts a stream into blocks. Each Write is a whole number of batches.
type writer struct {
	rec     collect.Recording
	stream  uint32
	patient bool // Write may block; Go's tracer must not

	mu    sync.Mutex
	seq   uint32
	buf   []byte // not yet written
	block []byte
	since time.Time // since when there is no room; zero: there is room
	tried time.Time // last try
	full  bool      // there was no room for too long: the rest of the stream is useless
	shut  bool
	wrote int64     // number of writes
	cost  int64     // estimated cost to the program, in ns
	last  time.Time // time of the last write
}

// Write accepts everything.
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
		// A single byte is the end of a generation, which is useless without it.
		w.flush(len(p) == 1)
	}
	if w.patient {
		w.await()
	}
	if len(w.buf) > maxWaiting || w.patient && !w.since.IsZero() {
		w.giveUp()
	}
}

// flush writes full parts, or everything if all is set. w.mu is held.
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

// await waits until the flusher has made room, at most for patience. w.mu is held.
func (w *writer) await() {
	for end := time.Now().Add(patience); !w.full && !w.since.IsZero() && time.Now().Before(end); {
		time.Sleep(again)
		w.flush(false)
	}
}

func (w *writer) giveUp() { w.full, w.buf = true, nil }

// tick writes what waits. It returns the time since the last write, and whether the writer
// has given up for lack of room.
func (w *writer) tick() (ago time.Duration, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.full {
		w.flush(true)
	}
	return time.Since(w.last), w.full
}

// count returns the number of writes, and the time since the last.
func (w *writer) count() (n int64, ago time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote, time.Since(w.last)
}

// spent returns the estimated cost to the program so far, in ns.
func (w *writer) spent() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cost
}

// close writes the rest. Later writes are dropped.
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
