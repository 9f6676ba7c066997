//go:build !scope_off

package hooks

import (
	"context"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/scope"
)

// These are told what the program tells package runtime/trace, whether an execution trace is
// taken or not. The words are those of Go execution traces that are opened (internal/goscopes).

// recording is asked before what costs more than a load and a branch.
func recording() bool { return atomic.LoadUint32(&sys.Live.On) != record.Off }

// region is called when a region begins, of a task or of none (0).
func region(ctx any, id uint64, name string) (a, b int64) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return 0, 0
	}
	args := make([]any, 0, 2)
	if id != 0 {
		args = append(args, record.KV("task", id))
	}
	h := record.BeginTask(name, partOf(ctx, args))
	return h.Loc, h.Start
}

// task is called when a task begins. The context that is returned carries its scope, so that
// regions, logs and what scope.Context begins with it are parts of it.
func task(ctx any, id, parent uint64, name string) (next any, a, b int64) {
	c, ok := ctx.(context.Context)
	if !ok || atomic.LoadUint32(&sys.Live.On) == record.Off {
		return ctx, 0, 0
	}
	within, _ := scope.LinkOf(c)
	l := record.PartOf(within)
	args := []any{record.KV("task", id)}
	if parent != 0 {
		args = append(args, record.KV("of task", parent))
	}
	h := record.BeginLinked(name, &l, args)
	if h.Loc == 0 {
		return ctx, 0, 0
	}
	return scope.WithLink(c, l), h.Loc, h.Start
}

// ended is called when a region or a task is over, on whichever goroutine.
func ended(a, b int64) { record.Handle{Loc: a, Start: b}.End() }

// logged is called with what the program logs. Of a text that has args to be formatted with
// they are recorded as they are, as scope.Taskf does: no method of theirs is called.
func logged(ctx any, id uint64, category, text string, args []any) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return
	}
	if category == "" {
		category = "log"
	}
	key := "message"
	if len(args) > 0 {
		key = "format"
	}
	list := append(make([]any, 0, 3+len(args)), record.KV(key, text))
	if id != 0 {
		list = append(list, record.KV("task", id))
	}
	record.Event(category, append(partOf(ctx, list), args...))
}

// partOf adds to arguments what a context carries, as the parent of what they are of.
func partOf(ctx any, args []any) []any {
	if c, ok := ctx.(context.Context); ok {
		if l, ok := scope.LinkOf(c); ok {
			args = append(args, scope.Link{Trace: l.Trace, Parent: l.Span})
		}
	}
	return args
}
