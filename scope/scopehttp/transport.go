//go:build !scope_off

package scopehttp

import (
	"maps"
	"net/http"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/scope"
)

// Transport has each request that base sends be a scope, from its beginning until the
// answer's headers are there, with the path and the status:
//
//	client := &http.Client{Transport: scopehttp.Transport(nil)}
//
// The scope is called "HTTP GET example.com", and is part of the one that the request's
// context carries. If that carries none, a new trace begins. A copy of the request tells the
// receiver so by the headers traceparent and tracestate, unless it has a valid traceparent; the
// one with which a request came that Middleware serves is replaced, as a proxy hands it on. The
// flags of the trace and its tracestate are those that came in. All other headers, baggage among
// them, go out as they are. Where base is nil it is http.DefaultTransport.
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base}
}

type transport struct{ base http.RoundTripper }

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !scope.Enabled() || r.URL == nil {
		return t.base.RoundTrip(r)
	}
	ctx := r.Context()
	within, _ := scope.LinkOf(ctx)
	link := record.PartOf(within)
	h := record.BeginUnplaced(requests.Sent(r.Method, r.URL.Host), &link, []any{record.KV("path", r.URL.Path)})
	if h.Loc == 0 {
		return t.base.RoundTrip(r)
	}
	sent := r.WithContext(scope.WithLink(ctx, link))
	if record.Tells(r.Header["Traceparent"], within) {
		sent.Header = maps.Clone(r.Header)
		if sent.Header == nil {
			sent.Header = http.Header{}
		}
		sent.Header["Traceparent"] = []string{link.Traceparent()}
		if delete(sent.Header, "Tracestate"); link.State != "" {
			sent.Header["Tracestate"] = []string{link.State}
		}
	}
	ended := false
	defer func() {
		if !ended { // base panics
			h.End()
		}
	}()
	answer, err := t.base.RoundTrip(sent)
	if ended = true; err != nil || answer == nil {
		record.EndArgs(h, []any{record.KV("error", err)})
		return answer, err
	}
	record.EndArgs(h, []any{record.KV("status", answer.StatusCode)})
	if answer.Request == sent {
		answer.Request = r
	}
	return answer, nil
}

// CloseIdleConnections is for http.Client's.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
