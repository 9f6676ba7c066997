//go:build !scope_off

package record

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"github.com/scopeview/scopeview/internal/format"
)

// PartOf returns the link of a new scope whose parent is the scope with the link l.
func PartOf(l format.Link) format.Link {
	continueTrace(&l)
	return l
}

// PartOfContext is PartOf with the link that ctx carries.
func PartOfContext(ctx context.Context, l *format.Link) {
	if c := linked(ctx); c != nil {
		*l = c.link
	}
	continueTrace(l)
}

// continueTrace turns l, the link of a scope, into that of a child, with the same flags and state.
// If l has no trace id, a new trace begins. Its flag random is not set, although its id is random:
// until 2026, OpenTelemetry's Go SDK refused that flag together with sampled.
func continueTrace(l *format.Link) {
	l.Parent = l.Span
	if !l.Valid() {
		*l = format.Link{Flags: current.Load().opts.Flags}
		binary.NativeEndian.PutUint64(l.Trace[:8], newID())
		binary.NativeEndian.PutUint64(l.Trace[8:], newID())
	}
	binary.NativeEndian.PutUint64(l.Span[:], newID())
}

// CarriesIDs reports whether a request that is sent within the scope of a link should carry the
// scope's ids: the sender then sets traceparent, and tracestate with it. headers holds the
// request's traceparent headers. It is false only if the program has set a valid one itself. A
// proxy's forwarded header, that of the request it serves, does not count: otherwise what the
// receiver does would look like a child of the proxy's own client.
func CarriesIDs(headers []string, within format.Link) bool {
	if len(headers) != 1 {
		return true
	}
	l, ok := format.ParseTraceparent(headers[0])
	return !ok || l.Trace == within.Trace && l.Span == within.Parent
}

// newID returns a random id, never zero.
func newID() uint64 {
	for {
		if id := rand.Uint64(); id != 0 {
			return id
		}
	}
}

// BeginLinked begins a scope with a link whose trace id is not zero.
//
//go:noinline
func BeginLinked(name string, link *format.Link, args []any) Handle {
	r := current.Load()
	return r.beginLinked(r.names.given(name), link, args)
}

// BeginUnplaced is BeginLinked for a name that is not given by a line of the program, such as a
// request's. The name's bytes must never change. The link may be nil.
//
//go:noinline
func BeginUnplaced(name string, link *format.Link, args []any) Handle {
	r := current.Load()
	return r.beginLinked(r.names.lasting(name), link, args)
}

func (r *recorder) beginLinked(id uint64, link *format.Link, args []any) Handle {
	if id&nameOut != 0 {
		return Handle{}
	}
	return r.beginArgs(headTask|id<<48, args, link)
}

// LinkedContext is a context that carries a link.
type LinkedContext struct {
	context.Context
	link format.Link
}

// Carry sets c to ctx with the link l.
func (c *LinkedContext) Carry(ctx context.Context, l *format.Link) {
	switch around := ctx.(type) {
	case nil:
		ctx = context.Background()
	case *LinkedContext: // its link is replaced
		ctx = around.Context
	}
	c.Context, c.link = ctx, *l
}

type linkKey struct{}

// Value returns c for LinkOf, also through other packages' contexts.
func (c *LinkedContext) Value(key any) any {
	if key == (linkKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// LinkOf returns the link that ctx carries.
func LinkOf(ctx context.Context) (format.Link, bool) {
	if c := linked(ctx); c != nil {
		return c.link, true
	}
	return format.Link{}, false
}

// linked returns the context within ctx that carries its link, or nil.
func linked(ctx context.Context) *LinkedContext {
	c, ok := ctx.(*LinkedContext)
	if !ok && ctx != nil {
		c, _ = ctx.Value(linkKey{}).(*LinkedContext)
	}
	return c
}
