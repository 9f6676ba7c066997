//go:build !scope_off

package scope

import (
	"context"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// Link says where in a request something is, by the ids of W3C Trace Context:
//
//	type Link struct {
//		Trace  [16]byte // the request's id; zero: no link
//		Span   [8]byte  // the scope's own id; zero: unknown or none
//		Parent [8]byte  // the id of the scope that it is part of; zero: unknown or none
//		Flags  byte     // of the trace: 1 where it is sampled, 2 where its id is random
//		State  string   // the header tracestate; "" for none
//	}
//
//	func (l Link) Traceparent() string // the header that tells it to another process; "" without Trace or Span
//
// Flags and State are others' decisions, and go on unchanged to who takes part in the trace. A
// trace that begins here is not sampled, unless WithSampled says so.
//
// Given to Task, Begin, Event … as an argument its ids are kept with the record, which costs as
// much as four ints. A record has one at most. It takes four of the twelve values that a
// record has room for; where they are not left, it is left out and counted as an argument
// that was cut.
type Link = format.Link

// Context begins a scope of a request that may go over several goroutines and processes:
//
//	ctx, span := scope.Context(ctx, "checkout", scope.KV("user", id))
//	defer span.End()
//
// The scope has a new span id, and is part of the one that ctx carries. If ctx carries
// none, a new trace begins. The returned context carries the new scope. Give it to
// whatever works for the request, on any goroutine.
//
// It allocates the new context and nothing else. Without a recording, and where the name
// is filtered out, ctx is returned as it is.
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

// LinkOf returns what ctx carries: the scope of Context that it was made for, or what
// WithLink gave it.
func LinkOf(ctx context.Context) (Link, bool) { return record.LinkOf(ctx) }

// WithLink returns a context that carries l: of a request that came in with ids. The
// scopes that Context begins with it are parts of l's. Without a recording, and where l
// has no trace id, ctx is returned as it is.
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

// ParseTraceparent reads the traceparent header of an incoming request. The link's Span
// is the caller's scope. ok is false where the header is not exactly what W3C Trace
// Context says, and the request then is one without a link, whatever its tracestate.
func ParseTraceparent(s string) (l Link, ok bool) { return format.ParseTraceparent(s) }

// ParseTracestate reads the tracestate headers of an incoming request that has a valid
// traceparent, for Link.State. It returns "" where they are not what W3C Trace Context says.
func ParseTracestate(headers []string) string { return format.ParseTracestate(headers) }
