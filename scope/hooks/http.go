//go:build !scope_off

package hooks

import (
	"context"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/scope"
)

// request is called on the goroutine that serves a request, before its handler. pattern is empty
// if the server's handler is not an http.ServeMux, parent is the traceparent header, and state
// holds the tracestate headers. The returned context carries the scope; it is nil if nothing is
// recorded.
func request(ctx any, method, pattern, path, id, parent string, state []string) (next any, a, b int64) {
	c, ok := ctx.(context.Context)
	if !ok || atomic.LoadUint32(&sys.Live.On) == record.Off {
		return nil, 0, 0
	}
	sender, ok := scope.ParseTraceparent(parent)
	if ok && len(state) > 0 {
		sender.State = scope.ParseTracestate(state)
	}
	link := record.PartOf(sender)
	args := []any{record.KV("path", path), record.KV("id", id)}
	if id == "" {
		args = args[:1]
	}
	h := record.BeginUnplaced(requests.Served(method, pattern, path), &link, args)
	if h.Loc == 0 {
		return nil, 0, 0
	}
	return scope.WithLink(c, link), h.Loc, h.Start
}

// responded is called after the handler, also if it panics. pattern is set if it became known only
// in the handler; status is 0 if unknown.
func responded(a, b int64, pattern string, status int, panicked bool) {
	if a == 0 {
		return
	}
	var buf [3]any
	args := buf[:0]
	if pattern != "" {
		args = append(args, record.KV("pattern", pattern))
	}
	if status != 0 {
		args = append(args, record.KV("status", status))
	}
	if panicked {
		args = append(args, record.KV("panicked", true))
	}
	record.EndArgs(record.Handle{Loc: a, Start: b}, args)
}

// propagating reports whether SCOPEVIEW_PROPAGATE is 1: requests are then sent with the sender's
// ids.
var propagating bool

// send is called before a request is sent, with its traceparent headers. parent and
// state, if not empty, replace its traceparent and tracestate.
func send(ctx any, method, host, path string, traceparents []string) (a, b int64, parent, state string) {
	c, ok := ctx.(context.Context)
	if !ok || atomic.LoadUint32(&sys.Live.On) == record.Off {
		return 0, 0, "", ""
	}
	within, ok := scope.LinkOf(c)
	link := record.PartOf(within)
	h := record.BeginUnplaced(requests.Sent(method, host), &link, []any{record.KV("path", path)})
	if ok && propagating && h.Loc != 0 && record.CarriesIDs(traceparents, within) {
		parent, state = link.Traceparent(), link.State
	}
	return h.Loc, h.Start, parent, state
}

// answered is called when the response's headers have arrived, or with an error.
func answered(a, b int64, status int, err any) {
	h := record.Handle{Loc: a, Start: b}
	if err != nil {
		record.EndArgs(h, []any{record.KV("error", err)})
		return
	}
	record.EndArgs(h, []any{record.KV("status", status)})
}
