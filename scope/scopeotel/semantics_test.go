//go:build !scope_off

package scopeotel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/scopeview/scopeview/internal/export/otlp"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

// exported is a span as sent by export otlp.
type exported struct {
	entry
	Kind   int
	Status struct{ Code int }
	End    string `json:"endTimeUnixNano"`
	Events []entry
}

// entry is a span or an event, with the fields that both have.
type entry struct {
	Name       string
	Time       string `json:"timeUnixNano"`
	Attributes []struct {
		Key   string
		Value map[string]any
	}
}

// attributes returns the attributes as "key=value".
func (s *entry) attributes() string {
	all := ""
	for _, a := range s.Attributes {
		for _, v := range a.Value {
			all += fmt.Sprintf(" %s=%v", a.Key, v)
		}
	}
	return all + " "
}

// TestKinds: a scope that was an OpenTelemetry span is exported with its kind and the attributes
// there was room for; other readers see the kind as an argument.
func TestKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	stop := recordtest.Begin(t, path)
	tr := tracer(t)
	three := oteltrace.WithAttributes(attribute.String("a", "x"), attribute.Bool("b", true), attribute.Int("c", 1))
	for k := oteltrace.SpanKindUnspecified; k <= oteltrace.SpanKindConsumer; k++ {
		_, span := tr.Start(t.Context(), k.String(), oteltrace.WithSpanKind(k), three)
		span.SetName("named " + k.String())
		span.End()
	}
	stop()
	spans := export(t, path)
	for i, want := range []int{1, 1, 2, 3, 4, 5} { // unspecified means internal
		s := spans[i]
		if s.Kind != want || !strings.HasSuffix(s.attributes(), " a=x b=true c=1 ") || strings.Contains(s.attributes(), "span.kind") {
			t.Errorf("%s has the kind %d and%s, want %d", s.Name, s.Kind, s.attributes(), want)
		}
	}
	got := record(t, func(tr oteltrace.Tracer) {
		_, span := tr.Start(t.Context(), "serve", oteltrace.WithSpanKind(oteltrace.SpanKindServer), three)
		span.End()
	})
	if a := got["serve"].args; a != `{"span.kind":"server","a":"x","b":true,"c":1}` {
		t.Errorf("the arguments are %s", a)
	}
}

// wrapped is an error.
type wrapped struct{ error }

// TestExceptions: the error with which a scope ends becomes an exception event at its end, with the
// recorded facts: the type of a value, and a text that the program has formatted. Arguments that
// are not errors, or were given at the begin, do not. An exception that the program records itself
// stays unchanged.
func TestExceptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	stop := recordtest.Begin(t, path)
	one := func(name string, args ...any) {
		_, span := scope.Context(t.Context(), name)
		scope.Event("before")
		span.End(args...)
	}
	one("type", scope.KV("error", wrapped{errors.New("secret")}))
	one("text", scope.KV("n", 1), scope.KV("err", errors.New("refused").Error()))
	one("none", scope.KV("error", error(nil)), scope.KV("err", ""))
	one("number", scope.KV("error", 0.5))
	_, span := scope.Context(t.Context(), "begin", scope.KV("error", errors.New("of another")))
	scope.Event("exception", scope.KV("exception.type", "main.T"), scope.KV("exception.stacktrace", "main.f()"))
	span.End()
	stop()
	typ, message := string(semconv.ExceptionTypeKey), string(semconv.ExceptionMessageKey)
	want := [][]string{
		{"before ", "exception " + typ + "=scopeotel_test.wrapped "},
		{"before ", "exception " + message + "=refused "},
		{"before "},
		{"before "},
		{"exception " + typ + "=main.T " + string(semconv.ExceptionStacktraceKey) + "=main.f() "},
	}
	for i, s := range export(t, path) {
		var got []string
		for _, e := range s.Events {
			got = append(got, e.Name+e.attributes())
			if e.Name == semconv.ExceptionEventName && len(s.Events) > 1 && e.Time != s.End {
				t.Errorf("%s: the exception is at %s, and the end at %s", s.Name, e.Time, s.End)
			}
		}
		if !slices.Equal(got, want[i]) || s.Status.Code != 0 {
			t.Errorf("%s has the events %q and the status %d, want %q", s.Name, got, s.Status.Code, want[i])
		}
	}
}

// TestMessages: attributes of OpenTelemetry's messaging conventions pass unchanged, and the
// operation determines the kind.
func TestMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path)
	kinds := map[attribute.KeyValue]int{
		semconv.MessagingOperationTypeCreate: 4, semconv.MessagingOperationTypeSend: 4, semconv.MessagingOperationTypeProcess: 5,
		semconv.MessagingOperationTypeReceive: 3, semconv.MessagingOperationTypeSettle: 3,
	}
	for operation := range kinds {
		_, span := scope.Context(t.Context(), operation.Value.AsString()+" orders", scope.KV("messaging.system", "kafka"), scope.KV("messaging.destination.name", "orders"),
			scope.KV(string(operation.Key), operation.Value.AsString()))
		span.End(scope.KV("messaging.batch.message_count", 3))
	}
	end()
	spans := export(t, path)
	for operation, kind := range kinds {
		i := slices.IndexFunc(spans, func(s exported) bool { return s.Name == operation.Value.AsString()+" orders" })
		if i < 0 {
			t.Fatalf("%s is not there", operation.Value.AsString())
		}
		got, want := spans[i].attributes(), " messaging.system=kafka messaging.destination.name=orders messaging.operation.type="+operation.Value.AsString()+" messaging.batch.message_count=3 "
		if spans[i].Kind != kind || !strings.HasSuffix(got, want) {
			t.Errorf("%s has the kind %d and%s, want %d and%s", spans[i].Name, spans[i].Kind, got, kind, want)
		}
	}
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }

// TestSemantics: exported spans have the kinds, the status and the attributes of OpenTelemetry's
// semantic conventions, by the constants of its Go package.
func TestSemantics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		switch r.PathValue("id") {
		case "busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "gone":
			w.WriteHeader(http.StatusNotFound)
		case "panic":
			panic(http.ErrAbortHandler)
		}
	})
	server := scopehttp.Middleware(mux)
	for _, id := range []string{"fine", "gone", "busy", "panic"} {
		func() {
			defer func() { recover() }()
			server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/users/"+id, nil))
		}()
	}
	ask := func(base http.RoundTripper, url string) {
		r := httptest.NewRequest("GET", url, nil)
		scopehttp.Transport(base).RoundTrip(r)
	}
	ask(roundTripper{http.NotFoundHandler()}, "http://a.example:81/x")
	ask(failing{}, "http://b.example/x")
	_, own := scope.Context(t.Context(), "own", scope.KV("status", 500))
	own.End()
	end()
	const (
		internal, srv, client = 1, 2, 3
		ok, failed            = 0, 2
	)
	for i, want := range []struct {
		name         string
		kind, status int
		attributes   []string
	}{
		{"GET /users/{id}", srv, ok, []string{string(semconv.HTTPRequestMethodKey) + "=GET", string(semconv.HTTPRouteKey) + "=/users/{id}", string(semconv.URLPathKey) + "=/users/fine",
			string(semconv.HTTPResponseStatusCodeKey) + "=200", string(semconv.HTTPResponseBodySizeKey) + "=0"}},
		{"GET /users/{id}", srv, ok, []string{string(semconv.HTTPResponseStatusCodeKey) + "=404"}},
		{"GET /users/{id}", srv, failed, []string{string(semconv.HTTPResponseStatusCodeKey) + "=503", string(semconv.ErrorTypeKey) + "=503"}},
		{"GET /users/{id}", srv, failed, []string{string(semconv.ErrorTypeKey) + "=panic"}},
		{"HTTP GET a.example:81", client, failed, []string{string(semconv.ServerAddressKey) + "=a.example", string(semconv.ServerPortKey) + "=81", string(semconv.HTTPResponseStatusCodeKey) + "=404", string(semconv.ErrorTypeKey) + "=404"}},
		{"HTTP GET b.example", client, failed, []string{string(semconv.ServerAddressKey) + "=b.example", string(semconv.ErrorTypeKey) + "=*errors.errorString"}},
		{"own", internal, ok, []string{"status=500"}},
	} {
		spans := export(t, path)
		if len(spans) != 7 {
			t.Fatalf("%d spans", len(spans))
		}
		s := spans[i]
		if s.Name != want.name || s.Kind != want.kind || s.Status.Code != want.status {
			t.Errorf("%d: %s has kind %d and status %d, want %s with %d and %d", i, s.Name, s.Kind, s.Status.Code, want.name, want.kind, want.status)
		}
		for _, a := range want.attributes {
			if strings.Count(s.attributes(), " "+a+" ") != 1 {
				t.Errorf("%d: %s has%s, want %s", i, s.Name, s.attributes(), a)
			}
		}
	}
}

// export returns the spans of a trace, in the order of their starts.
func export(t *testing.T, path string) (spans []exported) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	if _, err := otlp.Write(t.Context(), tr, otlp.Options{}, func(b []byte) error {
		var r struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []exported } }
		}
		if err := json.Unmarshal(b, &r); err != nil {
			return err
		}
		spans = append(spans, r.ResourceSpans[0].ScopeSpans[0].Spans...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return spans
}
