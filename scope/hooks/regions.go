//go:build !scope_off

package hooks

import (
	"context"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/scope"
)

// The functions below are called for the program's calls of package runtime/trace, whether an
// execution trace is being taken or not. Their names are those that internal/goscopes uses for
// Go's execution traces.

// recording guards work that costs more than a load and a branch.
func recording() bool { return atomic.LoadUint32(&sys.Live.On) != record.Off }

// region is called when a region begins, in the task id, or in none if id is 0.
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

// task is called when a task begins. The returned context carries its scope, so that regions,
// logs and scopes that scope.Context begins with it are linked to the task.
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

// ended is called when a region or a task ends, on any goroutine.
func ended(a, b int64) { record.Handle{Loc: a, Start: b}.End() }

// logged is called with what the program logs. If text is a format, args are recorded
// unformatted, as by scope.Taskf: none of their methods is called.
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

// partOf appends the link that ctx carries to args, as the parent.
func partOf(ctx any, args []any) []any {
	if c, ok := ctx.(context.Context); ok {
		if l, ok := scope.LinkOf(c); ok {
			args = append(args, scope.Link{Trace: l.Trace, Parent: l.Span})
		}
	}
	return args
}
