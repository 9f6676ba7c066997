//go:build !scope_off

package scopehttp

import (
	"maps"
	"net/http"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/scope"
)

// Transport returns a RoundTripper that records each request that base sends as a scope, until
// the response's headers have arrived, with the path and the status:
//
//	client := &http.Client{Transport: scopehttp.Transport(nil)}
//
// The scope is called "HTTP GET example.com", and its parent is the scope that the request's
// context carries. If that carries none, a new trace begins. A copy of the request carries the
// ids in the headers traceparent and tracestate, unless it has a valid traceparent already; one
// that merely forwards the header of a request served by Middleware, as a proxy does, is
// replaced. The flags of the trace and its tracestate are those that came in. All other headers,
// including baggage, are sent unchanged. A nil base means http.DefaultTransport.
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
	if record.CarriesIDs(r.Header["Traceparent"], within) {
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
		if !ended { // base has panicked
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

// CloseIdleConnections is called by http.Client's.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
