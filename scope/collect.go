//go:build !scope_off

package scope

import (
	"github.com/scopeview/scopeview/internal/format"
)

// collect tells the collectors how far the recording is. It is called by way of their
// option, so that programs without them don't contain it.
func (r *recorder) collect(now collecting) {
	for _, c := range r.opts.collectors {
		switch now {
		case collectStart:
			c.Start(recording{r})
		case collectTick:
			c.Tick()
		case collectSnapshot:
			r.beatMu.Lock() // the ticker's goroutine may be at a tick
			c.Snapshot()
			r.beatMu.Unlock()
		case collectStop:
			c.Stop()
		}
	}
}

// recording is what collectors see of a recorder.
type recording struct{ r *recorder }

func (c recording) Block(t format.BlockType, payload []byte) bool { return c.r.block(t, payload) }

func (c recording) Fact(key, value string) {
	c.r.block(format.BlockInfo, format.AppendInfo(nil, key, value))
}

func (c recording) Work(f func()) { c.r.flusher.Cost.Round(f) }

func (c recording) Ring() bool   { return c.r.ring != nil }
func (c recording) Ticks() int64 { return c.r.clock.Now() }
