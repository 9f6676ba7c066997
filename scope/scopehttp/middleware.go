//go:build !scope_off

package scopehttp

import (
	"net/http"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/scope"
)

// Middleware has each request that next serves be a scope, with its path, its status and the
// bytes of its answer:
//
//	http.ListenAndServe(addr, scopehttp.Middleware(mux))
//
// The scope is called by the method and the pattern of next, if that is an http.ServeMux, or
// of the ServeMux that next is a handler of: "GET /users/{id}". Else it is called by what the
// path begins with, "GET /users/…", and a pattern that comes to be known is its argument route.
//
// A request with a valid traceparent header continues its sender's trace, with its flags and its
// tracestate; another one begins a trace. The context of next's request carries the scope, for scope.Context, Transport and
// whatever else asks scope.LinkOf. No header decides anything else, and the answer gets none.
//
// A panic of next goes on, and ends the scope. The http.ResponseWriter that next is given has
// Unwrap, for http.ResponseController, and Flush, Hijack, ReadFrom, CloseNotify and Push, each
// where the server's has it. WriteString it has where that of net/http has it. Without a recording next is called with what came.
func Middleware(next http.Handler) http.Handler {
	mux, _ := next.(*http.ServeMux)
	return &middleware{next, mux}
}

type middleware struct {
	next http.Handler
	mux  *http.ServeMux // the same, if it is one
}

func (m *middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !scope.Enabled() {
		m.next.ServeHTTP(w, r)
		return
	}
	known := r.Pattern
	if known == "" && m.mux != nil && r.RequestURI != "*" {
		_, known = m.mux.Handler(r)
	}
	sender, ok := scope.ParseTraceparent(header(r, "Traceparent"))
	if state := r.Header["Tracestate"]; ok && len(state) > 0 {
		sender.State = scope.ParseTracestate(state)
	}
	if around, ok := scope.LinkOf(r.Context()); ok && (around.Trace == sender.Trace || !sender.Valid()) {
		sender = around // the scope of a Middleware around this one
	}
	link, id := record.PartOf(sender), header(r, "X-Request-Id")
	args := [...]any{record.KV("path", r.URL.Path), record.KV("id", id)}
	given := args[:]
	if id == "" {
		given = args[:1]
	}
	h := record.BeginUnplaced(requests.Served(r.Method, known, r.URL.Path), &link, given)
	if h.Loc == 0 {
		m.next.ServeHTTP(w, r)
		return
	}
	s := &served{w: response{ResponseWriter: w}, handle: h, known: known}
	s.ctx.Carry(r.Context(), &link)
	s.r = *r.WithContext(&s.ctx)
	defer s.end()
	m.next.ServeHTTP(s.w.asServers(), &s.r)
	s.returned = true
}

// header is the value of a request's header, whose key is canonical. One that is there more
// than once has none.
func header(r *http.Request, key string) string {
	if v := r.Header[key]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// served is a request that is being served, and what its handler is given: all of it is one
// allocation.
type served struct {
	ctx      record.LinkedContext
	r        http.Request
	w        response
	handle   record.Handle
	known    string // the pattern that its name is of
	returned bool   // the handler has; else it panics
}

// end ends its scope.
func (s *served) end() {
	var buf [3]any
	args := buf[:0]
	switch {
	case s.w.hijacked:
		args = append(args, record.KV("hijacked", true))
	case s.w.status != 0:
		args = append(args, record.KV("status", s.w.status), record.KV("bytes", s.w.bytes))
	case s.returned:
		args = append(args, record.KV("status", http.StatusOK), record.KV("bytes", 0))
	}
	switch route := s.r.Pattern; {
	case !s.returned:
		args = append(args, record.KV("panicked", true))
	case route != s.known && route != "":
		args = append(args, record.KV("route", route))
	}
	record.EndArgs(s.handle, args)
}
