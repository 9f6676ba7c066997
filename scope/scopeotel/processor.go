package scopeotel

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/scope"
)

// Limits of recorded attributes: at the start as many as there is room for beside a link, and at
// the end more than that, so that those that are cut are counted.
const (
	maxAtStart = 3
	maxAtEnd   = 16
)

// maxOpen limits the memory taken by spans that a program never ends.
const maxOpen = 1 << 16

// NewSpanProcessor returns a processor that records spans, for sdktrace.WithSpanProcessor. It
// exports nothing, and may be combined with processors that do.
func NewSpanProcessor() sdktrace.SpanProcessor {
	return &processor{names: requests.Bounded{Other: "(other spans)"}, keys: requests.Bounded{Other: "(other keys)"}}
}

type processor struct {
	names, keys requests.Bounded
	open        sync.Map // id to begun
	count       atomic.Int64
	leftOut     atomic.Int64
}

// id identifies a span.
type id struct {
	trace trace.TraceID
	span  trace.SpanID
}

// renamed is the type by which the reader distinguishes a scope's final name from an argument:
// format.Renamed. The name is the key, because keys are in the trace's table of names.
type renamed struct{}

// The types from which the reader knows a span's kind, without the room that a key takes.
type (
	server   struct{}
	client   struct{}
	producer struct{}
	consumer struct{}
)

// kindOf returns the argument for a kind: nil for an internal span, as most are.
func kindOf(k trace.SpanKind) any {
	switch k {
	case trace.SpanKindServer:
		return server{}
	case trace.SpanKindClient:
		return client{}
	case trace.SpanKindProducer:
		return producer{}
	case trace.SpanKindConsumer:
		return consumer{}
	}
	return nil
}

// begun is the scope of a span that has not ended.
type begun struct {
	scope scope.Span
	name  string
	count int // number of attributes at its start
}

// OnStart begins the scope of a span.
func (p *processor) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	if !scope.Enabled() {
		return
	}
	if p.count.Add(1) > maxOpen {
		p.count.Add(-1)
		scope.Counter("OpenTelemetry spans left out", p.leftOut.Add(1))
		return
	}
	c := s.SpanContext()
	args := [2 + maxAtStart]any{scope.Link{Trace: c.TraceID(), Span: c.SpanID(), Parent: s.Parent().SpanID()}}
	n := 1
	if args[1] = kindOf(s.SpanKind()); args[1] != nil {
		n = 2
	}
	atStart := p.arguments(args[n:n+maxAtStart], s.Attributes())
	name := p.names.Of(s.Name())
	p.open.Store(id{c.TraceID(), c.SpanID()}, begun{scope.Begin(name, args[:n+atStart]...), name, atStart})
}

// OnEnd ends the scope of a span.
func (p *processor) OnEnd(s sdktrace.ReadOnlySpan) {
	if p.count.Load() == 0 {
		return
	}
	c := s.SpanContext()
	found, ok := p.open.LoadAndDelete(id{c.TraceID(), c.SpanID()})
	if !ok {
		return
	}
	p.count.Add(-1)
	b := found.(begun)
	var args [1 + maxAtEnd]any
	n := 0
	if s.Status().Code == codes.Error {
		args[0] = scope.KV("failed", true)
		n = 1
	}
	if name := p.names.Of(s.Name()); name != b.name { // SetName
		args[n] = scope.KV(name, renamed{})
		n++
	}
	if list := s.Attributes(); len(list) > b.count { // those from its start come first
		n += p.arguments(args[n:], list[b.count:])
	}
	b.scope.End(args[:n]...)
}

// arguments stores attributes into args, as many as there is room for, and returns how many.
func (p *processor) arguments(args []any, list []attribute.KeyValue) int {
	n := min(len(args), len(list))
	for i, a := range list[:n] {
		key := p.keys.Of(string(a.Key))
		switch v := a.Value; v.Type() {
		case attribute.BOOL:
			args[i] = scope.KV(key, v.AsBool())
		case attribute.INT64:
			args[i] = scope.KV(key, v.AsInt64())
		case attribute.FLOAT64:
			args[i] = scope.KV(key, v.AsFloat64())
		case attribute.STRING:
			args[i] = scope.KV(key, v.AsString())
		default:
			args[i] = scope.KV(key, v.String()) // a list, as JSON
		}
	}
	return n
}

// Shutdown does nothing: the scopes of spans that end later still end.
func (p *processor) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing: recorded scopes are not buffered here.
func (p *processor) ForceFlush(context.Context) error { return nil }

// Context returns a context that carries the OpenTelemetry span of ctx for package scope: scopes
// that scope.Context begins with it are children of that span, and have its flags and its
// tracestate. If there is no span, it returns ctx.
func Context(ctx context.Context) context.Context {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ctx
	}
	return scope.WithLink(ctx, scope.Link{Trace: c.TraceID(), Span: c.SpanID(), Flags: byte(c.TraceFlags()), State: c.TraceState().String()})
}

// Parent returns a context with which OpenTelemetry spans are children of the scope that ctx
// carries. With the sampler sdktrace.ParentBased they are sampled as that scope's trace is: a trace
// that began with a scope is not sampled, unless the recording has scope.WithSampled. If ctx
// carries no scope, or a span already, Parent returns ctx.
func Parent(ctx context.Context) context.Context {
	l, ok := scope.LinkOf(ctx)
	if !ok || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	state, _ := trace.ParseTraceState(l.State) // invalid entries are left out, as W3C requires
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: l.Trace, SpanID: l.Span, TraceFlags: trace.TraceFlags(l.Flags), TraceState: state, Remote: true,
	}))
}
