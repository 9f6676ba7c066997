//go:build !scope_off

package scopeotel_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
	"github.com/scopeview/scopeview/scope/scopeotel"
)

// sampler returns a tracer as in a fleet's services: it samples one trace in a hundred, unless
// the caller has decided.
func sampler(t *testing.T) trace.Tracer {
	p := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(0.01))))
	t.Cleanup(func() { p.Shutdown(context.Background()) })
	return p.Tracer("fleet")
}

// roundTripper serves the requests sent through it.
type roundTripper struct{ http.Handler }

func (h roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// TestSamplingOfAFleet: a service recorded by scopehttp, between two that use OpenTelemetry, does
// not change their sampling. For a trace that begins in it, its option decides.
func TestSamplingOfAFleet(t *testing.T) {
	const requests = 3000
	fleet := sampler(t)
	var last trace.SpanContext
	downstream := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, span := fleet.Start(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)), "downstream")
		last = span.SpanContext()
	})
	client := scopehttp.Transport(roundTripper{downstream})
	service := scopehttp.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, _ := http.NewRequestWithContext(r.Context(), "GET", "http://downstream.example/", nil)
		if _, err := client.RoundTrip(q); err != nil {
			t.Error(err)
		}
	}))
	state, err := trace.ParseTraceState("ot=th:fd70a4,vendor=x y")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		about    string
		upstream bool
		opts     []scope.Option
		all      bool // else none, if there is no upstream
	}{
		{"upstream decides", true, nil, false},
		{"upstream decides, whatever we do with our own", true, []scope.Option{scope.WithSampled()}, false},
		{"our own", false, nil, false},
		{"our own, sampled", false, []scope.Option{scope.WithSampled()}, true},
	} {
		stop := recordtest.Start(t, test.opts...)
		sampled := 0
		for range requests {
			r := httptest.NewRequest("GET", "/", nil)
			want := test.all
			if test.upstream {
				_, span := fleet.Start(r.Context(), "upstream")
				c := span.SpanContext().WithTraceState(state)
				want = c.IsSampled()
				propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(r.Context(), c), propagation.HeaderCarrier(r.Header))
			}
			service.ServeHTTP(httptest.NewRecorder(), r)
			if last.IsSampled() != want || test.upstream && last.TraceState().String() != state.String() {
				t.Fatalf("%s: downstream has %v, sampled upstream is %t", test.about, last, want)
			}
			if last.IsSampled() {
				sampled++
			}
		}
		stop()
		if test.upstream && (sampled == 0 || sampled > requests/20) {
			t.Errorf("%s: %d of %d are sampled", test.about, sampled, requests)
		}
	}
}

// TestSpanContexts: a span's flags and tracestate pass through our contexts, into sent requests,
// and back to spans.
func TestSpanContexts(t *testing.T) {
	stop := recordtest.Start(t)
	defer stop()
	state, _ := trace.ParseTraceState("a=1,b=2")
	for _, flags := range []trace.TraceFlags{0, trace.FlagsSampled, trace.FlagsRandom, trace.FlagsSampled | trace.FlagsRandom} {
		c := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: flags, TraceState: state})
		ctx, span := scope.Context(scopeotel.Context(trace.ContextWithSpanContext(t.Context(), c)), "ours")
		var sent propagation.HeaderCarrier
		scopehttp.Transport(roundTripper{http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			sent = propagation.HeaderCarrier(r.Header)
		})}).RoundTrip(httptest.NewRequestWithContext(ctx, "GET", "http://x.example/", nil))
		received := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(t.Context(), sent))
		l, _ := scope.LinkOf(ctx)
		back := trace.SpanContextFromContext(scopeotel.Parent(scope.WithLink(t.Context(), l)))
		for about, got := range map[string]trace.SpanContext{"received": received, "back": back} {
			if got.TraceID() != c.TraceID() || got.TraceFlags() != flags || got.TraceState().String() != "a=1,b=2" {
				t.Errorf("%s: %v became %v", about, c, got)
			}
		}
		span.End()
	}
}

// TestParentOfOurTrace: spans in a trace that began with a scope are sampled if WithSampled is
// set.
func TestParentOfOurTrace(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		var opts []scope.Option
		if sampled {
			opts = []scope.Option{scope.WithSampled()}
		}
		stop := recordtest.Start(t, opts...)
		ctx, root := scope.Context(t.Context(), "root")
		_, span := sampler(t).Start(scopeotel.Parent(ctx), "span")
		if got := span.SpanContext().IsSampled(); got != sampled {
			t.Errorf("it is sampled: %t, want %t", got, sampled)
		}
		root.End()
		stop()
	}
}
