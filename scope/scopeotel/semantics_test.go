//go:build !scope_off

package scopeotel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/scopeview/scopeview/internal/export/otlp"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

// exported is a span as export otlp sends it.
type exported struct {
	Name       string
	Kind       int
	Status     struct{ Code int }
	Attributes []struct {
		Key   string
		Value map[string]any
	}
}

// attributes are the span's, as "key=value".
func (s *exported) attributes() string {
	all := ""
	for _, a := range s.Attributes {
		for _, v := range a.Value {
			all += fmt.Sprintf(" %s=%v", a.Key, v)
		}
	}
	return all + " "
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }

// TestSemantics: what is exported has the kinds, the status and the attributes of OpenTelemetry's
// semantic conventions, by the constants of its Go package.
func TestSemantics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := scope.Start(path); err != nil {
		t.Fatal(err)
	}
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
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
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

// export returns the spans of a trace, in the order of their begins.
func export(t *testing.T, path string) (spans []exported) {
	t.Helper()
	tr, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
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
