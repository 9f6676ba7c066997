//go:build !scope_off

package record

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"github.com/scopeview/scopeview/internal/format"
)

// PartOf returns the link of a new scope that is part of the one with the link l.
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

// continueTrace makes l, the link of a scope, that of a part of it, with the same flags and state.
// Where l has no trace id, a new trace begins. Its flag random is not set, though its id is random:
// OpenTelemetry's Go SDK refused that flag together with sampled until 2026.
func continueTrace(l *format.Link) {
	l.Parent = l.Span
	if !l.Valid() {
		*l = format.Link{Flags: current.Load().opts.Flags}
		binary.NativeEndian.PutUint64(l.Trace[:8], newID())
		binary.NativeEndian.PutUint64(l.Trace[8:], newID())
	}
	binary.NativeEndian.PutUint64(l.Span[:], newID())
}

// Tells reports whether the receiver of a request is to be told by whom it is sent, within the
// scope of a link: the sender then sets traceparent, and tracestate with it. told are the request's
// traceparent headers. It is unless the program has set a valid one itself: where there is none,
// or none that counts, and where a proxy hands on the one that came with the request that it
// serves. Without that, what it asks would look as if the proxy's own client had asked it.
func Tells(told []string, within format.Link) bool {
	if len(told) != 1 {
		return true
	}
	l, ok := format.ParseTraceparent(told[0])
	return !ok || l.Trace == within.Trace && l.Span == within.Parent
}

// newID returns an id of random bits, never zero.
func newID() uint64 {
	for {
		if id := rand.Uint64(); id != 0 {
			return id
		}
	}
}

// BeginLinked begins a scope with a link, whose trace id is not zero.
//
//go:noinline
func BeginLinked(name string, link *format.Link, args []any) Handle {
	r := current.Load()
	return r.beginLinked(r.names.given(name), link, args)
}

// BeginUnplaced is BeginLinked with a name that no line of the program gives: whoever
// serves or sends requests was told of what has it. The name's bytes must stay what they are
// as long as the process lives. The link may be nil.
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

// Carry makes it one with what ctx has, and l.
func (c *LinkedContext) Carry(ctx context.Context, l *format.Link) {
	switch around := ctx.(type) {
	case nil:
		ctx = context.Background()
	case *LinkedContext: // whose link is not to be seen any more
		ctx = around.Context
	}
	c.Context, c.link = ctx, *l
}

type linkKey struct{}

// Value finds the link for LinkOf, through contexts of others too.
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

// linked returns the context in ctx that carries its link, or nil.
func linked(ctx context.Context) *LinkedContext {
	c, ok := ctx.(*LinkedContext)
	if !ok && ctx != nil {
		c, _ = ctx.Value(linkKey{}).(*LinkedContext)
	}
	return c
}
