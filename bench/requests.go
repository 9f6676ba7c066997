package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
	"github.com/scopeview/scopeview/scope/scopeslog"
)

// requestRows measures what belongs to requests: a scope with ids, what Middleware adds to
// its scopes, and what a log record's event takes.
func requestRows(b *bench) []row {
	// What is allocated costs what the collector makes of it, which in a heap of nothing runs
	// all the time. A server has one.
	heap := make([]byte, 64<<20)
	defer runtime.KeepAlive(heap)
	mux := b.middlewareRow("the same of an http.ServeMux, with its lookup", serveMux)
	inRequest := b.slogRow("the same in a request, with its ids for the next handler", scope.Link{Trace: [16]byte{1}, Span: [8]byte{2}})
	mux.judge, inRequest.judge = quantity{}, quantity{} // they do more than is promised of
	return []row{b.contextRow(), b.middlewareRow("Middleware, beyond its scope", serveSame), mux,
		b.slogRow("a slog record of two attributes, beyond the next handler", scope.Link{}), inRequest}
}

var background = context.Background()

func contextScopes(n int) {
	for range n {
		_, span := scope.Context(background, "f1")
		span.End()
	}
}

func (b *bench) contextRow() row {
	const name = "scope.Context and End"
	ts, err := b.sideBySide(hot.Timed(floor.Loop), hot.Timed(contextScopes))
	if err != nil {
		return broken(name, err)
	}
	r := ratio(name, ts.ns(1), ts.to(1, 0), 0, 0)
	r.note = ts.note()
	return r
}

// sideBySide measures loops in turn while a recording runs.
func (b *bench) sideBySide(loops ...hot.Loop) (ts times, err error) {
	t, err := b.recording(job{
		warm: func() { b.warm(recordedPlan, loops...) },
		run:  func() { ts = b.measure(recordedPlan, loops...) },
	})
	if err == nil && t.lost > 0 {
		err = fmt.Errorf("%d records were lost", t.lost)
	}
	return ts, err
}

// beyond is a row for how much longer the second loop takes than the first.
func beyond(name string, ts times, goal, must float64) row {
	more := quantity{ts.over(2, 1), "ns"}
	return row{name: name, value: more, judge: more, goal: goal, must: must,
		note: fmt.Sprintf("%.0f ns without it; %s", ts.ns(1), ts.note())}
}

// writer is an http.ResponseWriter that throws away.
type writer struct{ header http.Header }

func (w *writer) Header() http.Header         { return w.header }
func (w *writer) WriteHeader(int)             {}
func (w *writer) Write(b []byte) (int, error) { return len(b), nil }

var (
	answer  = []byte("hello")
	handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(answer) })
)

func request() *http.Request {
	r := httptest.NewRequest("GET", "/users/7", nil)
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	return r
}

// serveSame serves by one handler, whose pattern is known.
func serveSame() (plain, recorded http.Handler, r *http.Request) {
	r = request()
	r.Pattern = "GET /users/{id}"
	return handler, scopehttp.Middleware(handler), r
}

// serveMux has the pattern looked up in an http.ServeMux, which does so again.
func serveMux() (plain, recorded http.Handler, r *http.Request) {
	mux := http.NewServeMux()
	mux.Handle("GET /users/{id}", handler)
	return mux, scopehttp.Middleware(mux), request()
}

// middlewareRow compares Middleware with a scope like its own, made by hand, whose context is
// given to the handler.
func (b *bench) middlewareRow(name string, make func() (plain, recorded http.Handler, r *http.Request)) row {
	plain, recorded, r := make()
	w := &writer{http.Header{}}
	ts, err := b.sideBySide(hot.Timed(floor.Loop),
		hot.Timed(func(n int) {
			for range n {
				ctx, span := scope.Context(r.Context(), "GET /users/{id}", scope.KV("path", r.URL.Path))
				plain.ServeHTTP(w, r.WithContext(ctx))
				span.End(scope.KV("status", 200), scope.KV("bytes", int64(len(answer))))
			}
		}),
		hot.Timed(func(n int) {
			for range n {
				recorded.ServeHTTP(w, r)
			}
		}))
	if err != nil {
		return broken(name, err)
	}
	return beyond(name, ts, 100, 150)
}

// discard is a slog.Handler that throws away.
type discard struct{}

func (discard) Enabled(context.Context, slog.Level) bool  { return true }
func (discard) Handle(context.Context, slog.Record) error { return nil }
func (d discard) WithAttrs([]slog.Attr) slog.Handler      { return d }
func (d discard) WithGroup(string) slog.Handler           { return d }

// slogRow compares a logger with one whose records are events, by a message with two
// attributes.
func (b *bench) slogRow(name string, l scope.Link) row {
	logs := func(h slog.Handler) hot.Loop {
		log := slog.New(h)
		return hot.Timed(func(n int) {
			ctx := scope.WithLink(background, l)
			for range n {
				log.LogAttrs(ctx, slog.LevelInfo, "cache miss", slog.String("key", "user:7"), slog.Int("size", 1234))
			}
		})
	}
	ts, err := b.sideBySide(hot.Timed(floor.Loop), logs(discard{}), logs(scopeslog.New(discard{})))
	if err != nil {
		return broken(name, err)
	}
	return beyond(name, ts, 40, 60)
}
