//go:build !scope_off

package record

import (
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/sweeper"
)

// stackEntry is the name of Stack in a stack, which is dropped.
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

// chooseStacks determines how stacks are taken, and returns that as text.
func (r *recorder) chooseStacks() string {
	err := sys.FramePointers()
	if r.walk = err == nil; r.walk {
		return "frame pointers"
	}
	return "runtime.Callers, not frame pointers: " + err.Error()
}

// stacks counts the calls of Stack. It is created at the first call, and its code is
// reached only through these functions, so that a program that never calls Stack contains
// neither the sweeper nor its goroutine.
type stacks struct {
	sweeper atomic.Pointer[sweeper.Sweeper]
	wake    chan struct{} // made by Start: a channel made in a bubble can't be used outside

	mu      sync.Mutex
	over    bool
	start   func() // nil: there is no sweeper, or its goroutine runs
	counted func() (all, others int64)
	stop    func() (lost int64)
}

// first creates the sweeper; nil if the recording is over. One of the recorder's
// goroutines starts the sweeper's: the caller may be in a bubble of testing/synctest,
// which would own it.
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
			return r.block(format.BlockFrame, format.AppendFrame(nil, f))
		},
		Stack: func(s *sweeper.Stack) bool {
			return r.block(format.BlockStack, format.AppendStack(nil, s))
		},
		Counts: func(cs []sweeper.Count) bool {
			return r.block(format.BlockCount, format.AppendCounts(nil, r.clock.Now(), cs))
		},
		Round: r.flusher.Cost.Round,
		Inner: stackEntry,
		Wake:  c.wake,
	})
	c.start, c.counted, c.stop = s.Start, s.Counted, s.Stop
	c.sweeper.Store(s)
	r.send(c.sweep) // if that is busy, the next tick does it
	return s
}

// sweep starts the sweeper's goroutine if there is a sweeper without one.
func (c *stacks) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start != nil {
		c.start()
		c.start = nil
	}
}

// callCounts returns the number of calls counted, and the number of those counted only under their
// name.
func (c *stacks) callCounts() (all, others int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counted == nil {
		return 0, 0
	}
	return c.counted()
}

// end counts what is left, and returns how many calls found no room in the trace.
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
