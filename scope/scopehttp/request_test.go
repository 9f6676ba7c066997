//go:build !scope_off

package scopehttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func texts(list []recordtest.Event) (all []string) {
	for _, x := range list {
		all = append(all, x.String())
	}
	slices.Sort(all)
	return all
}

func find(t *testing.T, list []recordtest.Event, prefix string) recordtest.Event {
	t.Helper()
	for _, x := range list {
		if strings.HasPrefix(x.String(), prefix) {
			return x
		}
	}
	t.Fatalf("no scope begins with %q: %q", prefix, texts(list))
	return recordtest.Event{}
}

// TestOneRequest follows a request across two servers, a client and a goroutine.
func TestOneRequest(t *testing.T) {
	back := http.NewServeMux()
	back.HandleFunc("GET /stock/{id}", func(w http.ResponseWriter, r *http.Request) {
		done := make(chan bool)
		go func() {
			defer close(done)
			_, span := scope.Context(r.Context(), "look up")
			span.End()
		}()
		<-done
		fmt.Fprint(w, "stock: ", r.Header.Get("Tracestate"), r.Header.Get("Baggage"))
	})
	backend := httptest.NewServer(scopehttp.Middleware(back))
	defer backend.Close()
	client := &http.Client{Transport: scopehttp.Transport(nil)}
	front := http.NewServeMux()
	front.HandleFunc("/order", func(w http.ResponseWriter, r *http.Request) {
		q, _ := http.NewRequestWithContext(r.Context(), "GET", backend.URL+"/stock/7", nil)
		q.Header.Set("Baggage", "c=d")
		answer, err := client.Do(q)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		if answer.Request != q || q.Header.Get("Traceparent") != "" {
			t.Error("the request was changed")
		}
		w.WriteHeader(http.StatusCreated)
		io.Copy(w, answer.Body)
	})
	frontend := httptest.NewServer(scopehttp.Middleware(front))
	defer frontend.Close()
	stop := recordtest.Start(t)
	q, _ := http.NewRequest("POST", frontend.URL+"/order?secret=1", nil)
	q.Header.Set("Traceparent", traceparent)
	q.Header.Set("Tracestate", "a=b ")
	q.Header.Set("X-Request-Id", "seven")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if string(body) != "stock: a=bc=d" || answer.StatusCode != 201 || len(answer.Header["Traceparent"]) != 0 {
		t.Errorf("%d %q %v", answer.StatusCode, body, answer.Header)
	}
	client.CloseIdleConnections()
	backend.Close()
	frontend.Close()
	list := stop()
	host := strings.TrimPrefix(backend.URL, "http://")
	want := []string{
		`GET /stock/{id} {"path":"/stock/7","status":200,"bytes":13}`,
		`HTTP GET ` + host + ` {"path":"/stock/7","status":200}`,
		`POST /order {"path":"/order","id":"seven","status":201,"bytes":13}`,
		`look up`,
	}
	if got := texts(list); !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sender, _ := scope.ParseTraceparent(traceparent)
	for _, name := range []string{"POST", "HTTP", "GET", "look up"} {
		x := find(t, list, name)
		if x.Link.Trace != sender.Trace || x.Link.Parent != sender.Span || x.Open {
			t.Errorf("%s is %v, and it is a part of %v", name, x.Link, sender)
		}
		sender = x.Link
	}
	if find(t, list, "GET").Goid == find(t, list, "look up").Goid {
		t.Error("another goroutine is the same one")
	}
}

// TestMiddleware checks what is recorded of a request, by what its handler does.
func TestMiddleware(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/inner/{id}", scopehttp.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})))
	mux.HandleFunc("/silent", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "a teapot")
	})
	around := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { mux.ServeHTTP(w, r) })
	for _, test := range []struct {
		about   string
		handler http.Handler
		path    string
		header  []string
		want    []string
	}{
		{"nothing is written", scopehttp.Middleware(mux), "/silent", nil, []string{`GET /silent {"path":"/silent","status":200,"bytes":0}`}},
		{"a status", scopehttp.Middleware(mux), "/early", nil, []string{`GET /early {"path":"/early","status":418,"bytes":8}`}},
		{"not found", scopehttp.Middleware(mux), "/nothing/7", nil, []string{`GET /nothing/… {"path":"/nothing/7","status":404,"bytes":19}`}},
		{"inside of the mux", mux, "/inner/7", nil, []string{`GET /inner/{id} {"path":"/inner/7","status":200,"bytes":0}`}},
		{"twice", scopehttp.Middleware(mux), "/inner/7", nil, []string{
			`GET /inner/{id} {"path":"/inner/7","status":200,"bytes":0}`, `GET /inner/{id} {"path":"/inner/7","status":200,"bytes":0}`}},
		{"around the mux", scopehttp.Middleware(around), "/early", nil, []string{`GET /early {"path":"/early","status":418,"bytes":8,"route":"/early"}`}},
		{"a bad traceparent", scopehttp.Middleware(mux), "/silent", []string{"Traceparent", "00-xyz"}, []string{`GET /silent {"path":"/silent","status":200,"bytes":0}`}},
		{"two traceparents", scopehttp.Middleware(mux), "/silent", []string{"Traceparent", traceparent, "Traceparent", traceparent},
			[]string{`GET /silent {"path":"/silent","status":200,"bytes":0}`}},
		{"an endless id", scopehttp.Middleware(mux), "/silent", []string{"X-Request-Id", strings.Repeat("x", 1<<20)},
			[]string{`GET /silent {"path":"/silent","id":"` + strings.Repeat("x", 1024) + `","status":200,"bytes":0,"id#bytes":1048576}`}},
	} {
		stop := recordtest.Start(t)
		r := httptest.NewRequest("GET", test.path, nil)
		for i := 0; i+1 < len(test.header); i += 2 {
			r.Header.Add(test.header[i], test.header[i+1])
		}
		test.handler.ServeHTTP(httptest.NewRecorder(), r)
		list := stop()
		if got := texts(list); !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.about, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
		if list[0].Link.Trace == [16]byte{} || list[0].Link.Parent != [8]byte{} {
			t.Errorf("%s: the first scope is %v", test.about, list[0].Link)
		}
		if len(list) == 2 && (list[1].Link.Parent != list[0].Link.Span || list[1].Link.Trace != list[0].Link.Trace) {
			t.Errorf("%s: the inner one is %v, the outer one %v", test.about, list[1].Link, list[0].Link)
		}
	}
}

// TestPanics: a handler's panic or Goexit propagates and ends the scope.
func TestPanics(t *testing.T) {
	stop := recordtest.Start(t)
	h := scopehttp.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/exit" {
			runtime.Goexit()
		}
		w.WriteHeader(http.StatusAccepted)
		panic(http.ErrAbortHandler)
	}))
	func() {
		defer func() {
			if r := recover(); r != http.ErrAbortHandler {
				t.Errorf("recovered %v", r)
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/panic", nil))
	}()
	done := make(chan bool)
	go func() {
		defer close(done)
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/exit", nil))
	}()
	<-done
	func() {
		defer func() { recover() }()
		scopehttp.Transport(roundTripper(func(*http.Request) (*http.Response, error) { panic("base") })).RoundTrip(httptest.NewRequest("GET", "http://x.example/", nil))
	}()
	list := stop()
	want := []string{`GET /exit {"path":"/exit","panicked":true}`, `GET /panic {"path":"/panic","status":202,"bytes":0,"panicked":true}`, `HTTP GET x.example {"path":"/"}`}
	if got := texts(list); !slices.Equal(got, want) || slices.ContainsFunc(list, func(x recordtest.Event) bool { return x.Open }) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTransport checks what is recorded of an outgoing request, and what is sent.
func TestTransport(t *testing.T) {
	failed := errors.New("it failed")
	stop := recordtest.Start(t)
	var sent http.Header
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = r.Header
		if _, ok := scope.LinkOf(r.Context()); !ok {
			t.Error("the base's request has no link")
		}
		if r.URL.Path == "/fails" {
			return nil, failed
		}
		return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
	})
	own := httptest.NewRequest("PUT", "http://a.example/own", nil)
	own.Header.Set("Traceparent", traceparent)
	for _, r := range []*http.Request{
		httptest.NewRequest("GET", "http://a.example:81/x", nil), httptest.NewRequest("GET", "http://a.example/fails", nil), own,
		{URL: own.URL}, // with the fewest fields that a client may set
	} {
		_, err := scopehttp.Transport(base).RoundTrip(r)
		if fails := r.URL.Path == "/fails"; fails != errors.Is(err, failed) {
			t.Errorf("%s: %v", r.URL, err)
		}
		_, valid := scope.ParseTraceparent(sent.Get("Traceparent"))
		if !valid || (sent.Get("Traceparent") == traceparent) != (r == own) || len(r.Header["Traceparent"]) != len(own.Header["Traceparent"]) && r == own {
			t.Errorf("%s: sent with %v", r.URL, sent)
		}
	}
	want := []string{`HTTP GET a.example {"path":"/fails","error":{"type":"*errors.errorString"}}`, `HTTP GET a.example {"path":"/own","status":204}`,
		`HTTP GET a.example:81 {"path":"/x","status":204}`, `HTTP PUT a.example {"path":"/own","status":204}`}
	if got := texts(stop()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestProxy: a proxy's outgoing request is the parent of what its receiver does, although the
// proxy forwards the headers of the incoming request.
func TestProxy(t *testing.T) {
	stop := recordtest.Start(t)
	var sent string
	proxy := scopehttp.Middleware(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "a.example"}) },
		Transport: scopehttp.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = r.Header.Get("Traceparent")
			return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
		})),
	})
	r := httptest.NewRequest("GET", "http://proxy.example/x", nil)
	r.Header.Set("Traceparent", traceparent)
	proxy.ServeHTTP(httptest.NewRecorder(), r)
	stop()
	client, _ := scope.ParseTraceparent(traceparent)
	if l, ok := scope.ParseTraceparent(sent); !ok || l.Trace != client.Trace || l.Span == client.Span {
		t.Errorf("the request came with %s, and the proxy sends %q", traceparent, sent)
	}
}

// TestServersOwn: the handler's writer can do what the server's http.ResponseWriter can.
func TestServersOwn(t *testing.T) {
	can := func(w http.ResponseWriter) string {
		_, flush := w.(http.Flusher)
		_, hijack := w.(http.Hijacker)
		_, read := w.(io.ReaderFrom)
		_, text := w.(io.StringWriter)
		_, push := w.(http.Pusher)
		_, closed := w.(interface{ CloseNotify() <-chan bool })
		c := http.NewResponseController(w)
		return fmt.Sprint(flush, hijack, read, text, push, closed, c.EnableFullDuplex() == nil, c.Flush() == nil)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/can", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto, " ", can(w)) })
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("/copy", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, io.LimitReader(strings.NewReader(strings.Repeat("x", 100_000)), 99_999))
	})
	mux.HandleFunc("/hijack", func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		rw.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\nhello\n")
		rw.Flush()
	})
	stop := recordtest.Start(t)
	server := httptest.NewUnstartedServer(scopehttp.Middleware(mux))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(scopehttp.Middleware(mux))
	defer plain.Close()
	get := func(c *http.Client, url string) string {
		t.Helper()
		answer, err := c.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, _ := io.ReadAll(answer.Body)
		return string(b)
	}
	if got := get(server.Client(), server.URL+"/can"); got != "HTTP/2.0 true false false true true true true true" {
		t.Errorf("of HTTP/2: %s", got)
	}
	if got := get(plain.Client(), plain.URL+"/can"); got != "HTTP/1.1 true true true true false true true true" {
		t.Errorf("of HTTP/1: %s", got)
	}
	get(plain.Client(), plain.URL+"/early")
	if got := len(get(plain.Client(), plain.URL+"/copy")); got != 99_999 {
		t.Errorf("%d bytes were copied", got)
	}
	conn, err := net.Dial("tcp", plain.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /hijack HTTP/1.1\r\nHost: x\r\n\r\n")
	if b, err := io.ReadAll(bufio.NewReader(conn)); err != nil || !strings.HasSuffix(string(b), "hello\n") {
		t.Errorf("hijacked: %q, %v", b, err)
	}
	server.Close()
	plain.Close()
	want := []string{`GET /can {"path":"/can","status":200,"bytes":49}`, `GET /can {"path":"/can","status":200,"bytes":50}`,
		`GET /copy {"path":"/copy","status":200,"bytes":99999}`, `GET /hijack {"path":"/hijack","hijacked":true}`, `GET /early {"path":"/early","status":418,"bytes":0}`}
	slices.Sort(want)
	if got := texts(stop()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// bare is an http.ResponseWriter without optional methods; pushing adds Push.
type (
	bare    struct{ http.ResponseWriter }
	pushing struct {
		bare
		pushed string
	}
)

func (w *pushing) Push(target string, _ *http.PushOptions) error {
	w.pushed = target
	return nil
}

// TestOtherWriters: for a writer not of net/http, a handler finds exactly that writer's methods.
func TestOtherWriters(t *testing.T) {
	stop := recordtest.Start(t)
	defer stop()
	scopehttp.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, ok := w.(io.StringWriter); ok {
			t.Error("a bare writer writes strings")
		}
		io.WriteString(w, "text")
	})).ServeHTTP(bare{httptest.NewRecorder()}, httptest.NewRequest("GET", "/x", nil))
	w := &pushing{bare: bare{httptest.NewRecorder()}}
	scopehttp.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if p, ok := w.(http.Pusher); !ok || p.Push("/style.css", nil) != nil {
			t.Error("nothing can be pushed")
		}
	})).ServeHTTP(w, httptest.NewRequest("GET", "/x", nil))
	if w.pushed != "/style.css" {
		t.Errorf("pushed is %q", w.pushed)
	}
}

// TestNotRecorded: without a recording, or if the name is filtered out, handler and base get the
// original arguments.
func TestNotRecorded(t *testing.T) {
	var in http.ResponseWriter
	var got, sent *http.Request
	h := scopehttp.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { in, got = w, r }))
	c := scopehttp.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = r
		return nil, context.Canceled
	}))
	check := func(about string) {
		w, r, q := httptest.NewRecorder(), httptest.NewRequest("GET", "/x", nil), httptest.NewRequest("GET", "http://x.example/", nil)
		h.ServeHTTP(w, r)
		c.RoundTrip(q)
		if in != w || got != r || sent != q {
			t.Errorf("%s: there is a copy", about)
		}
	}
	check("without a recording")
	stop := recordtest.Start(t, scope.WithFilter("-GET *,-HTTP *"))
	check("filtered out")
	if list := stop(); len(list) != 0 {
		t.Errorf("recorded is %q", texts(list))
	}
}
