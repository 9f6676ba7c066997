//go:build !scope_off

package scopeotel_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopeotel"
)

// recorded describes a recorded scope or counter.
type recorded struct {
	args  string
	link  scope.Link
	other bool // ended on another goroutine
	open  bool
	count int
}

// record returns what is recorded while f runs, by name.
func record(t *testing.T, f func(trace.Tracer), opts ...scope.Option) map[string]recorded {
	t.Helper()
	stop := recordtest.Start(t, opts...)
	f(tracer(t))
	found := map[string]recorded{}
	for _, e := range stop() {
		if e.Kind == format.KindTask || e.Kind == format.KindCounter {
			found[e.Name] = recorded{e.Args, e.Link, e.Moved, e.Open, found[e.Name].count + 1}
		}
	}
	return found
}

func tracer(t *testing.T) trace.Tracer {
	p := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(scopeotel.NewSpanProcessor()))
	t.Cleanup(func() { p.Shutdown(context.Background()) })
	return p.Tracer("test")
}

// TestSpans: spans become scopes with their ids, attributes and status, wherever they end.
func TestSpans(t *testing.T) {
	var ids [3]trace.SpanContext
	got := record(t, func(tr trace.Tracer) {
		ctx, root := tr.Start(t.Context(), "root", trace.WithAttributes(attribute.Int("a", 1), attribute.String("b", "x"), attribute.Bool("c", true), attribute.Float64("d", 1.5), attribute.Int("e", 5)))
		ids[0] = root.SpanContext()
		inner, child := tr.Start(ctx, "child")
		ids[1] = child.SpanContext()
		child.SetAttributes(attribute.StringSlice("list", []string{"p", "q"}), attribute.Int("n", 7))
		child.SetStatus(codes.Error, "secret")
		_, leaf := tr.Start(inner, "leaf")
		ids[2] = leaf.SpanContext()
		_, forever := tr.Start(inner, "forever")
		_ = forever
		root.End() // before its child
		done := make(chan bool)
		go func() { child.End(); close(done) }()
		<-done
		for i := range 6 {
			leaf.SetAttributes(attribute.Int(fmt.Sprint("k", i), i))
		}
		leaf.End()
	})
	link := func(c trace.SpanContext, parent trace.SpanID) scope.Link {
		return scope.Link{Trace: c.TraceID(), Span: c.SpanID(), Parent: parent}
	}
	want := map[string]recorded{
		"root":  {args: `{"a":1,"b":"x","c":true,"d":1.5,"e":5}`, link: link(ids[0], trace.SpanID{})},
		"child": {args: `{"failed":true,"list":"[\"p\",\"q\"]","n":7}`, link: link(ids[1], ids[0].SpanID()), other: true},
		"leaf":  {args: `{"k0":0,"k1":1,"k2":2,"k3":3,"cut":2}`, link: link(ids[2], ids[1].SpanID())},
	}
	for name, w := range want {
		w.count = 1
		if got[name] != w {
			t.Errorf("%s is %+v, want %+v", name, got[name], w)
		}
	}
	if !got["forever"].open || len(got) != 4 {
		t.Errorf("recorded is %v", got)
	}
}

// TestSetName: a scope has its span's final name, with as many attributes as there is room for. An
// open scope has the name that its span started with.
func TestSetName(t *testing.T) {
	got := record(t, func(tr trace.Tracer) {
		_, span := tr.Start(t.Context(), "HTTP GET", trace.WithAttributes(attribute.Int("a", 1)))
		span.SetName("GET /users/{id}")
		span.SetAttributes(attribute.Int("b", 2))
		span.SetStatus(codes.Error, "")
		_, inner := tr.Start(t.Context(), "inner")
		inner.SetName("renamed twice")
		inner.SetName("inner")
		inner.End()
		_, open := tr.Start(t.Context(), "open")
		open.SetName("not yet")
		_, many := tr.Start(t.Context(), "many")
		many.SetName("full")
		for i := range 8 {
			many.SetAttributes(attribute.Int(fmt.Sprint("k", i), i))
		}
		many.End()
		_, other := tr.Start(t.Context(), "other")
		other.SetName("elsewhere")
		done := make(chan bool)
		go func() { other.End(); close(done) }()
		<-done
		span.End()
	})
	if r := got["GET /users/{id}"]; r.args != `{"a":1,"failed":true,"b":2}` || r.open || r.link.Span == [8]byte{} {
		t.Errorf("the renamed one is %+v", r)
	}
	if r := got["elsewhere"]; r.args != "" || !r.other {
		t.Errorf("the one that ended elsewhere is %+v", r)
	}
	if r := got["full"]; r.args != `{"k0":0,"k1":1,"k2":2,"cut":5}` {
		t.Errorf("the one with many attributes is %+v", r)
	}
	if got["inner"].args != "" || got["inner"].open || !got["open"].open || len(got) != 5 {
		t.Errorf("recorded is %v", got)
	}
}

// TestBounds: the number of names, keys and spans that never end is limited.
func TestBounds(t *testing.T) {
	const most = 1 << 16
	got := record(t, func(tr trace.Tracer) {
		for i := range most + 3 {
			tr.Start(t.Context(), fmt.Sprint("span ", i%2000), trace.WithAttributes(attribute.Int("key", i)))
		}
	})
	if r := got["OpenTelemetry spans left out"]; r.count != 3 || r.args != `{"value":3}` {
		t.Errorf("left out are %+v", r)
	}
	if r := got["(other spans)"]; len(got) != 1002 || r.count < most/3 || !r.open {
		t.Errorf("%d names, others %+v", len(got), r)
	}
}

// TestContexts: scopes may be children of spans, and spans of scopes.
func TestContexts(t *testing.T) {
	got := record(t, func(tr trace.Tracer) {
		ctx, request := scope.Context(t.Context(), "request")
		ctx, span := tr.Start(scopeotel.Parent(ctx), "span")
		if scopeotel.Parent(ctx) != ctx {
			t.Error("a context with a span got another parent")
		}
		_, leaf := scope.Context(scopeotel.Context(ctx), "leaf")
		leaf.End()
		span.End()
		request.End()
	}, scope.WithSampled())
	request, span, leaf := got["request"].link, got["span"].link, got["leaf"].link
	if span.Trace != request.Trace || span.Parent != request.Span || leaf.Trace != request.Trace || leaf.Parent != span.Span {
		t.Errorf("request %v, span %v, leaf %v", request, span, leaf)
	}
	ctx := t.Context()
	if scopeotel.Context(ctx) != ctx || scopeotel.Parent(ctx) != ctx {
		t.Error("a context without ids was changed")
	}
}

// TestNotRecording: spans that begin without a recording leave nothing, and end normally.
func TestNotRecording(t *testing.T) {
	tr := tracer(t)
	_, early := tr.Start(t.Context(), "early")
	got := record(t, func(tr trace.Tracer) {
		_, span := tr.Start(t.Context(), "span")
		early.End()
		span.End()
	})
	if len(got) != 1 || got["span"].open {
		t.Errorf("recorded is %v", got)
	}
}

func BenchmarkSpan(b *testing.B) {
	for _, recording := range []bool{false, true} {
		b.Run(fmt.Sprint("recording ", recording), func(b *testing.B) {
			if recording {
				if err := scope.Start(b.TempDir()+string(filepath.Separator), scope.WithRing(16<<20)); err != nil {
					b.Fatal(err)
				}
				defer scope.Stop()
			}
			p := scopeotel.NewSpanProcessor()
			_, s := sdktrace.NewTracerProvider().Tracer("test").Start(b.Context(), "span")
			span := s.(sdktrace.ReadWriteSpan)
			b.ReportAllocs()
			for b.Loop() {
				p.OnStart(b.Context(), span)
				p.OnEnd(span)
			}
		})
	}
}
