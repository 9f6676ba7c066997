//go:build !scope_off

package scope

import (
	"context"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Link is the position of a scope in a request, as the ids of W3C Trace Context:
//
//	type Link struct {
//		Trace  [16]byte // the request's id; zero: no link
//		Span   [8]byte  // the scope's own id; zero: unknown or none
//		Parent [8]byte  // the parent scope's id; zero: unknown or none
//		Flags  byte     // of the trace: 1 where it is sampled, 2 where its id is random
//		State  string   // the header tracestate; "" for none
//	}
//
//	func (l Link) Traceparent() string // the header for another process; "" without Trace or Span
//
// Flags and State are set where the trace began, and are passed on unchanged. A trace that begins
// here is not sampled unless WithSampled is set.
//
// A Link passed as an argument to Task, Begin, Event … is recorded, at the cost of four ints. A
// record holds at most one Link. It takes four of the record's twelve values; if fewer are left, it
// is dropped and counted in Misuse.ArgsCut.
type Link = format.Link

// Context begins a scope of a request that may span several goroutines and processes:
//
//	ctx, span := scope.Context(ctx, "checkout", scope.KV("user", id))
//	defer span.End()
//
// The scope has a new span id, and its parent is the scope that ctx carries. If ctx carries none, a
// new trace begins. The returned context carries the new scope. Pass it to all work for the
// request, on any goroutine.
//
// Context allocates only the new context. Without a recording, or if the name is filtered out, it
// returns ctx unchanged.
func Context(ctx context.Context, name string, args ...any) (_ context.Context, s Span) {
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		ctx = begin(ctx, name, args, &s)
	}
	return ctx, s
}

//go:noinline
func begin(ctx context.Context, name string, args []any, s *Span) context.Context {
	var l Link
	record.PartOfContext(ctx, &l)
	h := record.BeginLinked(name, &l, args)
	if h.Loc == 0 {
		return ctx
	}
	*s = Span{h}
	return carrying(ctx, &l)
}

// LinkOf returns the Link that ctx carries, from Context or WithLink, and whether there is one.
func LinkOf(ctx context.Context) (Link, bool) { return record.LinkOf(ctx) }

// WithLink returns a context that carries l, the link of an incoming request. The scopes that
// Context begins with it are children of l's span. Without a recording, or if l has no trace id, it
// returns ctx unchanged.
func WithLink(ctx context.Context, l Link) context.Context {
	if atomic.LoadUint32(&sys.Live.On) == record.Off || !l.Valid() {
		return ctx
	}
	return carrying(ctx, &l)
}

func carrying(ctx context.Context, l *Link) context.Context {
	c := new(record.LinkedContext)
	c.Carry(ctx, l)
	return c
}

// ParseTraceparent parses the traceparent header of an incoming request. The link's Span is the
// caller's scope. ok is false if the header does not conform to W3C Trace Context; the request then
// has no link, whatever its tracestate.
func ParseTraceparent(s string) (l Link, ok bool) { return format.ParseTraceparent(s) }

// ParseTracestate parses the tracestate headers of an incoming request that has a valid
// traceparent, for Link.State. It returns "" if they do not conform to W3C Trace Context.
func ParseTracestate(headers []string) string { return format.ParseTracestate(headers) }
