//go:build !scope_off

package scopehttp

import (
	"net/http"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/scope"
)

// Middleware returns a handler that records each request that next serves as a scope, with its
// path, its status and the size of its response:
//
//	http.ListenAndServe(addr, scopehttp.Middleware(mux))
//
// The scope's name is the method and the pattern, if next is an http.ServeMux or a handler of
// one: "GET /users/{id}". Else it has the beginning of the path, "GET /users/…", and a pattern
// that becomes known later is the argument route.
//
// A request with a valid traceparent header continues its sender's trace, with its flags and its
// tracestate; any other begins a trace. The context of next's request carries the scope, for
// scope.Context, Transport and other users of scope.LinkOf. Headers decide nothing else, and the
// response gets none.
//
// A panic of next ends the scope and propagates. The http.ResponseWriter passed to next has
// Unwrap, for http.ResponseController, and those of Flush, Hijack, ReadFrom, CloseNotify and
// Push that the server's has. It has WriteString where net/http's has it. Without a recording
// next gets the original arguments.
func Middleware(next http.Handler) http.Handler {
	mux, _ := next.(*http.ServeMux)
	return &middleware{next, mux}
}

type middleware struct {
	next http.Handler
	mux  *http.ServeMux // next, if it is one
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
		sender = around // the scope of an enclosing Middleware
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

// header returns the value of a request's header, given its canonical key; "" if it occurs more
// than once.
func header(r *http.Request, key string) string {
	if v := r.Header[key]; len(v) == 1 {
		return v[0]
	}
	return ""
}

// served is a request being served, with everything its handler needs, in one allocation.
type served struct {
	ctx      record.LinkedContext
	r        http.Request
	w        response
	handle   record.Handle
	known    string // the pattern in its name
	returned bool   // the handler has returned, and did not panic
}

// end ends the request's scope.
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
