//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// collecting is a stage of the recording that collectors are called at.
type collecting uint8

const (
	collectStart collecting = iota
	collectTick
	collectSnapshot
	collectStop
	collectFilter // for functions only: the filter has changed
)

// locksWriter writes the counts of locks, funcsWriter those of functions. They are set on
// first use, so that programs without locks or functions do not contain that code.
var locksWriter, funcsWriter atomic.Pointer[func(*recorder, collecting)]

// writeCollected calls all collectors for a stage of the recording.
func (r *recorder) writeCollected(now collecting) {
	if r.opts.collect != nil {
		r.opts.collect(r, now)
	}
	if f := locksWriter.Load(); f != nil {
		(*f)(r, now)
	}
	if f := funcsWriter.Load(); f != nil && (now == collectStart || r.funcs.Load() != nil) {
		(*f)(r, now)
	}
}

// collect calls the collectors for a stage of the recording. It is called through
// their option, so that programs without collectors do not contain it.
func (r *recorder) collect(now collecting) {
	r.beatMu.Lock() // a snapshot may be requested at any time, on any goroutine
	defer r.beatMu.Unlock()
	for _, c := range r.opts.collectors {
		switch now {
		case collectStart:
			c.Start(recording{r})
		case collectTick:
			c.Beat()
		case collectSnapshot:
			c.Snapshot()
		case collectStop:
			c.Stop()
		}
	}
	if now == collectStop {
		r.opts.collectors = nil
	}
}

// recording is a collector's view of a recorder.
type recording struct{ r *recorder }

func (c recording) Block(t format.BlockType, payload []byte) bool { return c.r.block(t, payload) }

func (c recording) Fact(key, value string) {
	c.r.block(format.BlockInfo, format.AppendInfo(nil, key, value))
}

func (c recording) Work(f func()) { c.r.flusher.Cost.Round(f) }

func (c recording) Ring() int64 { return c.r.opts.ring }

// inHeap is the approximate size of a recording in Go's heap, in bytes, doubled for the cost of
// scanning it. 160 KiB were measured, at 100,000 records per second; TestInHeap compares it with
// the actual size.
const inHeap = 2 * 160 << 10

// heapUse is the recording's part of the heap, and the variable from which the runtime reads it.
var heapUse struct {
	usage atomic.Pointer[uint64] // nil: the runtime does not read it
	more  atomic.Int64           // collectors' bytes, beyond inHeap
}

// ReportHeap makes *bytes the variable from which the runtime learns how much of the heap is the
// recorder's: Go's collector must not run more often because of it in a program whose heap is at
// its minimum.
func ReportHeap(bytes *uint64) {
	heapUse.usage.Store(bytes)
	reportHeap(atomic.LoadUint32(&sys.Live.On) != Off)
}

// UseHeap adds bytes, which may be negative, to the collectors' part of the heap.
func UseHeap(bytes int64) {
	heapUse.more.Add(bytes)
	reportHeap(atomic.LoadUint32(&sys.Live.On) != Off)
}

func reportHeap(recording bool) {
	if usage := heapUse.usage.Load(); usage != nil {
		n := heapUse.more.Load()
		if recording {
			n += inHeap
		}
		atomic.StoreUint64(usage, uint64(max(n, 0)))
	}
}
