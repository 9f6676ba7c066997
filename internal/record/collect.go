//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
)

// collecting is a moment that collectors are told of.
type collecting uint8

const (
	collectStart collecting = iota
	collectTick
	collectSnapshot
	collectStop
	collectFilter // for functions alone: what names are recorded has changed
)

// tellLocks is how locks tell what was counted of them, once there are some: programs
// without them don't contain it. tellFuncs is how functions do.
var tellLocks, tellFuncs atomic.Pointer[func(*recorder, collecting)]

// tellCollectors tells all who collect how far the recording is.
func (r *recorder) tellCollectors(now collecting) {
	if r.opts.collect != nil {
		r.opts.collect(r, now)
	}
	if f := tellLocks.Load(); f != nil {
		(*f)(r, now)
	}
	if f := tellFuncs.Load(); f != nil && (now == collectStart || r.funcs.Load() != nil) {
		(*f)(r, now)
	}
}

// collect tells the collectors how far the recording is. It is called by way of their
// option, so that programs without them don't contain it.
func (r *recorder) collect(now collecting) {
	r.beatMu.Lock() // a snapshot may be wanted at any time, on any goroutine
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

// recording is what collectors see of a recorder.
type recording struct{ r *recorder }

func (c recording) Block(t format.BlockType, payload []byte) bool { return c.r.block(t, payload) }

func (c recording) Fact(key, value string) {
	c.r.block(format.BlockInfo, format.AppendInfo(nil, key, value))
}

func (c recording) Work(f func()) { c.r.flusher.Cost.Round(f) }

func (c recording) Ring() int64 { return c.r.opts.ring }
