//go:build !scope_off

package scopehttp

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/scope"
)

// site is a program's debug server.
type site struct {
	t   *testing.T
	dir string
	url string // of the handler, with a slash at the end
}

// mount serves a handler that may write into a directory of the test's, and
// stops what it started.
func mount(t *testing.T, opts ...Option) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	mux := http.NewServeMux()
	mux.Handle("/debug/scope/", Handler(append([]Option{WithDir(s.dir)}, opts...)...))
	server := httptest.NewServer(mux)
	s.url = server.URL + "/debug/scope/"
	t.Cleanup(func() {
		server.Close()
		_ = scope.Stop()
	})
	return s
}

// do sends a request with headers "Name: value", which may include Host.
func (s *site) do(method, route, body string, headers ...string) (status int, text string, head http.Header) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+route, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

// want posts a form, or gets a route if form is nil, and checks the status.
func (s *site) want(status int, route string, form url.Values) string {
	s.t.Helper()
	method := "GET"
	if form != nil {
		method = "POST"
	}
	got, text, _ := s.do(method, route, form.Encode())
	if got != status {
		s.t.Errorf("%s %s %v: %d %q, want %d", method, route, form, got, text, status)
	}
	return text
}

// none is a form without fields.
var none = url.Values{}

// TestG28 sends the requests of a browser, a script and another site's page.
func TestG28(t *testing.T) {
	s := mount(t, WithHosts("Debug.example.com"))
	host := strings.TrimPrefix(strings.TrimSuffix(s.url, "/debug/scope/"), "http://")
	origin := "Origin: http://" + host
	type answers struct{ read, change int }
	var (
		open   = answers{200, 404} // there is no recording to stop
		closed = answers{403, 403}
	)
	requests, refused := 0, 0
	for _, from := range []struct {
		name    string
		headers []string
		want    answers
	}{
		{"a script", nil, open},
		{"typed in", []string{"Sec-Fetch-Site: none"}, open},
		{"our page", []string{"Sec-Fetch-Site: same-origin", origin}, open},
		{"our page, an old browser", []string{origin}, open},
		{"another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.com"}, closed},
		{"another site, an old browser", []string{"Origin: https://evil.com"}, closed},
		{"another site without a name", []string{"Origin: null"}, closed},
		{"another port", []string{"Sec-Fetch-Site: same-site"}, closed},
		{"another port, an old browser", []string{"Origin: http://127.0.0.1:1"}, closed},
		{"another site's picture", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"}, closed},
		{"a link", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, closed},
		{"a name that was pointed here", []string{"Host: evil.com", "Sec-Fetch-Site: same-origin", "Origin: http://evil.com"}, closed},
		{"an address and a name", []string{"Host: 127.0.0.1.evil.com"}, closed},
		{"a user", []string{"Host: localhost@evil.com"}, closed},
		{"localhost", []string{"Host: localhost:6060"}, open},
		{"localhost, to the root", []string{"Host: localhost.:6060"}, open},
		{"an IPv6 address", []string{"Host: [::1]:6060"}, open},
		{"the pod's address", []string{"Host: 10.1.2.3:6060"}, open},
		{"a short name", []string{"Host: backend:6060"}, open},
		{"a name that was allowed", []string{"Host: debug.EXAMPLE.com:6060"}, open},
		{"a name under it", []string{"Host: a.debug.example.com"}, closed},
		{"localhost and a name", []string{"Host: localhost.evil.com"}, closed},
		{"an IPv6 address and a name", []string{"Host: [::1].evil.com"}, closed},
		{"a port that is a name", []string{"Host: localhost:80.evil.com"}, closed},
		{"evil.com on our port", []string{"Host: evil.com:6060"}, closed},
		{"a file", []string{"Origin: file://"}, closed},
		{"nothing as origin, of a page", []string{"Origin: null", "Sec-Fetch-Site: cross-site"}, closed},
		{"https for http", []string{"Origin: https://evil." + host}, closed},
	} {
		for _, r := range []struct {
			method, route string
			want          int
		}{
			{"GET", "", from.want.read}, {"HEAD", "", from.want.read}, {"GET", "status", from.want.read}, {"HEAD", "status", from.want.read},
			{"POST", "stop", from.want.change}, {"POST", "filter", from.want.change}, {"POST", "snapshot", from.want.change}, {"POST", "off", from.want.change},
			{"GET", "download", max(from.want.change, from.want.read)},
			{"GET", "stop", 405}, {"POST", "status", 405}, {"POST", "", 405}, {"PUT", "filter", 405}, {"OPTIONS", "start", 405},
			{"HEAD", "download", 405}, {"DELETE", "download", 405}, {"GET", "none", 404}, {"POST", "none", 404},
		} {
			want := r.want
			if from.want == closed {
				want = 403
			}
			body := ""
			if r.route == "filter" {
				body = "expr=a"
			}
			status, text, head := s.do(r.method, r.route, body, from.headers...)
			if requests++; status >= 400 {
				refused++
			}
			if status != want {
				t.Errorf("%s: %s %q: %d %q, want %d", from.name, r.method, r.route, status, text, want)
			}
			if status >= 400 && (!strings.HasPrefix(head.Get("Content-Type"), "text/plain") || r.method != "HEAD" && strings.Count(text, "\n") != 1) {
				t.Errorf("%s: %s %q: %s %q, want a line of text", from.name, r.method, r.route, head.Get("Content-Type"), text)
			}
			if (status == 405) != (head.Get("Allow") != "") {
				t.Errorf("%s: %s %q: %d with Allow %q", from.name, r.method, r.route, status, head.Get("Allow"))
			}
			checkHeaders(t, head)
		}
	}
	if scope.Stats().Running {
		t.Error("a recording runs")
	}
	t.Logf("G28: %d requests to the program's handler: %d answered, %d refused, no CORS header", requests, requests-refused, refused)
}

// TestG28Raw sends requests that Go's client would not: without a Host, with two,
// with another one in the address, and a browser's preflight for another site's
// POST.
func TestG28Raw(t *testing.T) {
	s := mount(t)
	addr := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/debug/scope/")
	local := "Host: " + addr + "\r\n"
	const status, start = "/debug/scope/status", "/debug/scope/start"
	table := []struct {
		request string
		status  int
	}{
		{"GET " + status + " HTTP/1.1\r\n" + local, 200},
		{"GET " + status + " HTTP/1.1\r\n", 400},
		{"GET " + status + " HTTP/1.0\r\n", 403},
		{"GET " + status + " HTTP/1.1\r\nHost:\r\n", 403},
		{"GET " + status + " HTTP/1.1\r\n" + local + "Host: evil.com\r\n", 400},
		{"GET http://" + addr + status + " HTTP/1.1\r\n" + local, 200},
		{"GET http://evil.com" + status + " HTTP/1.1\r\n" + local, 403},
		{"POST http://evil.com" + start + " HTTP/1.1\r\n" + local + "Content-Length: 0\r\n", 403},
		{"OPTIONS " + start + " HTTP/1.1\r\n" + local + "Origin: http://evil.com\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: x\r\n", 403},
		{"OPTIONS " + start + " HTTP/1.1\r\n" + local + "Access-Control-Request-Method: POST\r\n", 405},
		{"POST " + start + " HTTP/1.1\r\n" + local + "Origin: http://evil.com\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n", 403},
		{"POST " + start + " HTTP/1.1\r\n" + local + "Origin: null\r\nContent-Length: 0\r\n", 403},
		{"GET " + start + " HTTP/1.1\r\n" + local, 405},
		{"GET " + start + "?path=/tmp HTTP/1.1\r\n" + local + "X-HTTP-Method-Override: POST\r\n", 405},
		{"TRACE " + status + " HTTP/1.1\r\n" + local, 405},
		{"CONNECT " + addr + " HTTP/1.1\r\n" + local, 404}, // the program's mux
	}
	for _, c := range table {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(conn, c.request+"Connection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", c.request, err)
		}
		if conn.Close(); resp.StatusCode != c.status {
			t.Errorf("%q: %s, want %d", c.request, resp.Status, c.status)
		}
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%q: the answer has %s", c.request, name)
			}
		}
	}
	if scope.Stats().Running || len(traces(t, s.dir)) != 0 {
		t.Error("something was recorded")
	}
	if h, pattern := http.DefaultServeMux.Handler(&http.Request{Method: "GET", URL: &url.URL{Path: "/debug/scope/"}}); pattern != "" {
		t.Errorf("importing the package registered %q: %v", pattern, h)
	}
	t.Logf("G28: %d requests by hand to the program's handler, as the table says", len(table))
}

// traces lists a directory.
func traces(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func checkHeaders(t *testing.T, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY", mark: "1",
	} {
		if !strings.Contains(h.Get(name), want) {
			t.Errorf("%s: %q, want %s", name, h.Get(name), want)
		}
	}
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
}

// TestAllHosts: a program may leave the check of hosts to others.
func TestAllHosts(t *testing.T) {
	s := mount(t, WithHosts("*"))
	if status, text, _ := s.do("GET", "status", "", "Host: a.b.example.com"); status != 200 {
		t.Errorf("%d %q", status, text)
	}
	if status, text, _ := s.do("POST", "stop", "", "Host: a.b.example.com", "Origin: https://evil.com"); status != 403 {
		t.Errorf("%d %q", status, text)
	}
}

// TestMounts: the handler finds its routes wherever it is mounted.
func TestMounts(t *testing.T) {
	h := Handler()
	for prefix, handler := range map[string]http.Handler{
		"/debug/scope/": h, "/": h, "/a/b/c/": h, "/debug/x/": http.StripPrefix("/debug/x", h), "/debug/y/": http.StripPrefix("/debug/y/", h),
	} {
		mux := http.NewServeMux()
		mux.Handle(prefix, handler)
		for route, want := range map[string]string{"": "<title>scopeview", "status": `"running": false`, "sratus": `no "sratus" here`} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", prefix+route, nil)
			r.Host = "localhost"
			mux.ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s%s: %d %q, want %q in it", prefix, route, w.Code, w.Body, want)
			}
		}
	}
}

// TestStatus: the keys are those in the package's documentation.
func TestStatus(t *testing.T) {
	s := mount(t)
	doc := filetest.Read(t, "doc.go")
	var got map[string]any
	if err := json.Unmarshal([]byte(s.want(200, "status", nil)), &got); err != nil {
		t.Fatal(err)
	}
	check := func(keys map[string]any) {
		for k := range keys {
			if !strings.Contains(string(doc), k) {
				t.Errorf("the key %s is not documented", k)
			}
		}
	}
	check(got)
	for _, k := range []string{"lost", "misuse"} {
		inner, _ := got[k].(map[string]any)
		if check(inner); len(inner) < 6 {
			t.Errorf("%s is %v", k, got[k])
		}
	}
	if got["pid"] != float64(os.Getpid()) || got["program"] != strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") || got["running"] != false {
		t.Errorf("%v", got)
	}
}
