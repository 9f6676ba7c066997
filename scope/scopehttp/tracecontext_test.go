//go:build !scope_off

package scopehttp_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

// w3c has cases from https://github.com/w3c/trace-context/tree/main/test: headers of an incoming
// request, and the expected ones of a request sent for it. Its traceparent is a new one, or of the
// same trace with flags.
var w3c = []struct {
	about   string
	headers string // separated by ";"
	flags   string // "": a new trace
	state   string
}{
	{"both missing", "", "", ""},
	{"no tracestate", "traceparent: 00-{t}-{p}-01", "01", ""},
	{"not sampled", "traceparent: 00-{t}-{p}-00", "00", ""},
	{"a random id", "traceparent: 00-{t}-{p}-03", "03", ""},
	{"unknown flags", "traceparent: 00-{t}-{p}-fd", "01", ""},
	{"duplicated", "traceparent: 00-{t}-{p}-01;traceparent: 00-{t}-{p}-01;tracestate: foo=1", "", ""},
	{"another name", "trace-parent: 00-{t}-{p}-01", "", ""},
	{"other casing", "TrAcEpArEnT: 00-{t}-{p}-01;TRACESTATE: foo=1", "01", "foo=1"},
	{"version 00 with a dot", "traceparent: 00-{t}-{p}-01.;tracestate: foo=1", "", ""},
	{"version 00 with more", "traceparent: 00-{t}-{p}-01-what-the-future-will-be-like;tracestate: foo=1", "", ""},
	{"version cc", "traceparent: cc-{t}-{p}-01", "01", ""},
	{"version cc with more", "traceparent: cc-{t}-{p}-01-what-the-future-will-be-like;tracestate: foo=1", "01", "foo=1"},
	{"version cc with more behind a dot", "traceparent: cc-{t}-{p}-01.what-the-future-will-be-like", "", ""},
	{"version ff", "traceparent: ff-{t}-{p}-01", "", ""},
	{"an illegal version", "traceparent: .0-{t}-{p}-01", "", ""},
	{"a long version", "traceparent: 000-{t}-{p}-01", "", ""},
	{"a short version", "traceparent: 0-{t}-{p}-01", "", ""},
	{"no trace id", "traceparent: 00-00000000000000000000000000000000-{p}-01;tracestate: foo=1", "", ""},
	{"no parent id", "traceparent: 00-{t}-0000000000000000-01", "", ""},
	{"illegal flags", "traceparent: 00-{t}-{p}-0.", "", ""},
	{"long flags", "traceparent: 00-{t}-{p}-001", "", ""},
	{"short flags", "traceparent: 00-{t}-{p}-1", "", ""},
	{"white space around", "traceparent: \t 00-{t}-{p}-01 \t", "01", ""},
	{"no traceparent", "tracestate: foo=1,bar=2", "", ""},
	{"both", "traceparent: 00-{t}-{p}-00;tracestate: foo=1,bar=2", "00", "foo=1,bar=2"},
	{"an empty tracestate", "traceparent: 00-{t}-{p}-00;tracestate: ;tracestate: foo=1", "00", "foo=1"},
	{"several tracestates", "traceparent: 00-{t}-{p}-01;tracestate: foo=1,bar=2;tracestate: rojo=1", "01", "foo=1,bar=2,rojo=1"},
	{"white space in a tracestate", "traceparent: 00-{t}-{p}-01;tracestate: foo=1 \t , \t bar=2", "01", "foo=1,bar=2"},
	{"an illegal tracestate", "traceparent: 00-{t}-{p}-01;tracestate: foo=1,FOO=2", "01", ""},
	{"duplicated keys", "traceparent: 00-{t}-{p}-01;tracestate: foo=1;tracestate: foo=2", "01", ""},
}

// TestTraceContext: requests that a service makes take part in the trace as W3C Trace Context
// requires, whether it creates the request or forwards the incoming one.
func TestTraceContext(t *testing.T) {
	const trace, parent = "12345678901234567890123456789012", "1234567890123456"
	var sent []http.Header
	transport := scopehttp.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Header)
		return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
	}))
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "a.example"}) },
		Transport: transport,
	}
	service := scopehttp.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, _ := http.NewRequestWithContext(r.Context(), "GET", "http://a.example/", nil)
		if _, err := transport.RoundTrip(q); err != nil {
			t.Error(err)
		}
		proxy.ServeHTTP(w, r)
	}))
	for _, sampled := range []bool{false, true} {
		fresh, opts := "00", []scope.Option(nil)
		if sampled {
			fresh, opts = "01", []scope.Option{scope.WithSampled()}
		}
		stop := recordtest.Start(t, opts...)
		for _, test := range w3c {
			headers := strings.NewReplacer("{t}", trace, "{p}", parent, ";", "\r\n").Replace(test.headers)
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET / HTTP/1.1\r\nHost: x\r\n" + strings.TrimLeft(headers+"\r\n\r\n", "\r\n") + "\r\n")))
			if err != nil {
				t.Fatal(test.about, err)
			}
			sent = nil
			service.ServeHTTP(httptest.NewRecorder(), r)
			for i, h := range sent {
				got := strings.Split(h.Get("Traceparent"), "-")
				want := test.flags
				if want == "" {
					want = fresh
				}
				switch {
				case len(h["Traceparent"]) != 1 || len(got) != 4 || got[0] != "00" || got[2] == parent || got[3] != want:
					t.Errorf("%s, %d: traceparent is %q, want the flags %s", test.about, i, h["Traceparent"], want)
				case (got[1] == trace) != (test.flags != ""):
					t.Errorf("%s, %d: the trace is %s", test.about, i, got[1])
				}
				if strings.Join(h["Tracestate"], ";") != test.state || len(h["Tracestate"]) > 1 {
					t.Errorf("%s, %d: tracestate is %q, want %q", test.about, i, h["Tracestate"], test.state)
				}
			}
			if len(sent) != 2 || sent[0].Get("Traceparent") == sent[1].Get("Traceparent") {
				t.Errorf("%s: sent is %v", test.about, sent)
			}
		}
		stop()
	}
}

// TestOwnTraceparent: a valid traceparent set by the program is sent, with its tracestate.
func TestOwnTraceparent(t *testing.T) {
	stop := recordtest.Start(t)
	defer stop()
	r := httptest.NewRequest("GET", "http://a.example/", nil)
	r.Header.Set("Traceparent", traceparent)
	r.Header.Set("Tracestate", "own=1")
	scopehttp.Transport(roundTripper(func(sent *http.Request) (*http.Response, error) {
		if sent.Header.Get("Traceparent") != traceparent || sent.Header.Get("Tracestate") != "own=1" {
			t.Errorf("sent with %v", sent.Header)
		}
		return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
	})).RoundTrip(r)
}
