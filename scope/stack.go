//go:build !scope_off

package scope

import (
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/sweeper"
)

// stackEntry is what Stack is called in a stack: not the caller of interest.
const stackEntry = "github.com/scopeview/scopeview/scope.Stack"

//go:noinline
func stack(name string, weight int64) {
	r := current.Load()
	n := r.names.find(name)
	if n&nameOut != 0 {
		return
	}
	var pcs sys.PCs
	if why := r.sweeper.Put(uint16(n&nameID), weight, sys.Callers(&pcs, r.walk)); why != 0 {
		r.lose(why)
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

// startSweeper begins to count stacks.
func (r *recorder) startSweeper() {
	r.sweeper = sweeper.Start(sweeper.Config{
		Every: r.opts.heartbeat,
		Block: r.block,
		Now:   r.clock.Now,
		Round: r.flusher.Cost.Round,
		Inner: stackEntry,
	})
}

// stopSweeper counts what is left. What the trace has no room for is lost.
func (r *recorder) stopSweeper() {
	r.loseMany(format.LossStack, r.sweeper.Stop())
}
