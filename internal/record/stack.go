//go:build !scope_off

package record

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/sweeper"
)

// stackEntry is what Stack is called in a stack: not the caller of interest.
const stackEntry = "github.com/scopeview/scopeview/scope.Stack"

// Stack counts the caller's stack.
//
//go:noinline
func Stack(name string, weight int64) {
	r := current.Load()
	n := r.names.given(name)
	if n&nameOut != 0 {
		return
	}
	var pcs sys.PCs
	s := r.stacks.sweeper.Load()
	if s == nil {
		if s = r.first(); s == nil {
			r.lose(format.LossStop)
			return
		}
	}
	if why := s.Put(uint16(n&nameID), weight, sys.Callers(&pcs, r.walk)); why == sweeper.ErrFull {
		r.lose(format.LossStack)
	} else if why != nil {
		r.lose(format.LossStop)
	}
}

// chooseStacks finds out how stacks are told, and says so.
func (r *recorder) chooseStacks() string {
	err := sys.FramePointers()
	if r.walk = err == nil; r.walk {
		return "frame pointers"
	}
	return "runtime.Callers, not frame pointers: " + err.Error()
}

// stacks is what counts them. It is made at the first call of Stack, and what it does is
// reached by these functions only, so that a program that never calls Stack does not
// contain the sweeper, nor have its goroutine.
type stacks struct {
	sweeper atomic.Pointer[sweeper.Sweeper]
	wake    chan struct{} // made by Start: one that is made in a bubble is of no use outside

	mu      sync.Mutex
	over    bool
	start   func() // nil: there is no sweeper, or its goroutine runs
	counted func() (all, others int64)
	stop    func() (lost int64)
}

// first makes the sweeper; nil where the recording is over. Its goroutine is begun by one
// of ours: who is here may be in a bubble of testing/synctest, and what is begun there
// belongs to that.
func (r *recorder) first() *sweeper.Sweeper {
	c := &r.stacks
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sweeper.Load()
	if s != nil || c.over {
		return s
	}
	s = sweeper.New(sweeper.Config{
		Every: r.opts.Heartbeat,
		Frame: func(f *sweeper.Frame) bool {
			return r.block(format.BlockFrame, format.AppendFrame(nil, (*format.Frame)(f)))
		},
		Stack: func(s *sweeper.Stack) bool {
			return r.block(format.BlockStack, format.AppendStack(nil, (*format.Stack)(s)))
		},
		Counts: func(cs []sweeper.Count) bool {
			out := make([]format.Count, len(cs))
			for i, c := range cs {
				out[i] = format.Count(c)
			}
			return r.block(format.BlockCount, format.AppendCounts(nil, r.clock.Now(), out))
		},
		Round: r.flusher.Cost.Round,
		Inner: stackEntry,
		Wake:  c.wake,
	})
	c.start, c.counted, c.stop = s.Start, s.Counted, s.Stop
	c.sweeper.Store(s)
	r.send(c.sweep) // where that is busy the next tick does it
	return s
}

// sweep begins the sweeper's goroutine if there is a sweeper that has none.
func (c *stacks) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start != nil {
		c.start()
		c.start = nil
	}
}

// told is how many records were counted, and how many of them for their name alone.
func (c *stacks) told() (all, others int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counted == nil {
		return 0, 0
	}
	return c.counted()
}

// end counts what is left, and returns how many records the trace has no room for.
func (c *stacks) end() (lost int64) {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.sweep()
	if c.stop == nil {
		return 0
	}
	return c.stop()
}
