package live

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof" // registers itself on the default mux, which must not be served
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const patience = 20 * time.Second

// running is a server that a test has started.
type running struct {
	t    *testing.T
	s    *Server
	addr string // host:port
	end  func() error
}

// start serves path until the test ends.
func start(t *testing.T, path string, change func(*Server), allow ...string) *running {
	t.Helper()
	s, err := New(Options{Path: path, AllowHosts: allow, Version: "scopeview test"})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	r := &running{t: t, s: s, addr: ln.Addr().String()}
	r.end = func() error {
		cancel()
		select {
		case err := <-ended:
			ended <- err
			return err
		case <-time.After(patience):
			return fmt.Errorf("the server does not end")
		}
	}
	t.Cleanup(func() {
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// raw sends a request unchanged, and reads the answer.
func (r *running) raw(request string) *http.Response {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request); err != nil {
		r.t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		r.t.Fatalf("%q: %v", request, err)
	}
	return resp
}

// get sends a request as the page does.
func (r *running) get(path string) *http.Response {
	r.t.Helper()
	return r.getCtx(context.Background(), path)
}

func (r *running) getCtx(ctx context.Context, path string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+r.addr+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: r.s.guard.cookie, Value: r.s.guard.token})
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func startedAt(t *testing.T, path string, second int) {
	t.Helper()
	tracetest.Write(t, path, fmt.Sprintf("header start=1000 wall=%d\n", int64(second)*1e9))
}

// TestG28 sends requests that a browser, or another program, may send: only those with a
// loopback or allowed Host, the token and GET are answered.
func TestG28(t *testing.T) {
	dir := t.TempDir()
	startedAt(t, filepath.Join(dir, "a.scope"), 100)
	outside := filepath.Join(t.TempDir(), "secret.scope")
	startedAt(t, outside, 100)
	r := start(t, dir, nil, "Pod.example.com", "10.1.2.3")
	if got := r.get("/").StatusCode; got != 200 {
		t.Fatalf("status %d", got)
	}
	token := r.s.guard.token
	cookie := "Cookie: " + r.s.guard.cookie + "=" + token + "\r\n"
	local := "Host: " + r.addr + "\r\n"
	navigate := "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
	table := []struct {
		name, line, headers string
		status              int
	}{
		{"as it should be", "GET / HTTP/1.1", local + cookie, 200},
		{"HEAD", "HEAD / HTTP/1.1", local + cookie, 200},
		{"among other cookies", "GET / HTTP/1.1", local + "Cookie: a=b; " + r.s.guard.cookie + "=" + token + "; c=d\r\n", 200},
		{"page", "GET /t/0/ HTTP/1.1", local + cookie, 200},

		{"Host localhost", "GET / HTTP/1.1", "Host: localhost\r\n" + cookie, 200},
		{"Host localhost, port forwarded", "GET / HTTP/1.1", "Host: LocalHost:12345\r\n" + cookie, 200},
		{"Host IPv6", "GET / HTTP/1.1", "Host: [::1]:80\r\n" + cookie, 200},
		{"Host 127.7.7.7", "GET / HTTP/1.1", "Host: 127.7.7.7\r\n" + cookie, 200},
		{"Host allowed", "GET / HTTP/1.1", "Host: pod.example.com:99\r\n" + cookie, 200},
		{"Host address allowed", "GET / HTTP/1.1", "Host: 10.1.2.3:99\r\n" + cookie, 200},
		{"Host evil", "GET / HTTP/1.1", "Host: evil.com\r\n" + cookie, 403},
		{"Host below evil", "GET / HTTP/1.1", "Host: localhost.evil.com\r\n" + cookie, 403},
		{"Host address below evil", "GET / HTTP/1.1", "Host: 127.0.0.1.evil.com\r\n" + cookie, 403},
		{"Host allowed below evil", "GET / HTTP/1.1", "Host: pod.example.com.evil.com\r\n" + cookie, 403},
		{"Host evil with an allowed end", "GET / HTTP/1.1", "Host: evil-localhost\r\n" + cookie, 403},
		{"Host below localhost", "GET / HTTP/1.1", "Host: evil.localhost\r\n" + cookie, 403},
		{"Host other address", "GET / HTTP/1.1", "Host: 10.1.2.4\r\n" + cookie, 403},
		{"Host all addresses", "GET / HTTP/1.1", "Host: 0.0.0.0\r\n" + cookie, 403},
		{"Host with a user", "GET / HTTP/1.1", "Host: localhost@evil.com\r\n" + cookie, 400},
		{"Host with a port that is none", "GET / HTTP/1.1", "Host: localhost:80.evil.com\r\n" + cookie, 403},
		{"Host IPv6 with more behind", "GET / HTTP/1.1", "Host: [::1].evil.com\r\n" + cookie, 403},
		{"Host IPv6 with a zone", "GET / HTTP/1.1", "Host: [::1%25lo]\r\n" + cookie, 403},
		{"Host empty", "GET / HTTP/1.1", "Host:\r\n" + cookie, 403},
		{"Host missing", "GET / HTTP/1.1", cookie, 400},
		{"Host missing, HTTP 1.0", "GET / HTTP/1.0", cookie, 403},
		{"two Hosts", "GET / HTTP/1.1", local + "Host: evil.com\r\n" + cookie, 400},
		{"absolute URI", "GET http://" + r.addr + "/ HTTP/1.1", local + cookie, 200},
		{"absolute URI, other host", "GET http://evil.com/ HTTP/1.1", local + cookie, 403},

		{"Origin loopback", "GET / HTTP/1.1", local + cookie + "Origin: http://" + r.addr + "\r\n", 200},
		{"Origin localhost", "GET / HTTP/1.1", local + cookie + "Origin: http://localhost:3000\r\n", 200},
		{"Origin null", "GET / HTTP/1.1", local + cookie + "Origin: null\r\n", 403},
		{"Origin evil", "GET / HTTP/1.1", local + cookie + "Origin: http://evil.com\r\n", 403},
		{"Origin below evil", "GET / HTTP/1.1", local + cookie + "Origin: http://localhost.evil.com\r\n", 403},
		{"Origin empty", "GET / HTTP/1.1", local + cookie + "Origin:\r\n", 403},
		{"Origin of a file", "GET / HTTP/1.1", local + cookie + "Origin: file://\r\n", 403},

		{"fetched by our page", "GET /t/0/api/live HTTP/1.1", local + cookie + "Sec-Fetch-Site: same-origin\r\n", 400}, // no cursor
		{"fetched by another site", "GET / HTTP/1.1", local + cookie + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n", 403},
		{"fetched by another port", "GET /t/0/api/whole HTTP/1.1", local + cookie + "Sec-Fetch-Site: same-site\r\n", 403},
		{"in another site's frame", "GET / HTTP/1.1", local + cookie + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n", 403},
		{"another site's link without token", "GET / HTTP/1.1", local + "Sec-Fetch-Site: cross-site\r\n" + navigate, 403},
		{"another site's link with token", "GET /?token=" + token + " HTTP/1.1", local + "Sec-Fetch-Site: cross-site\r\n" + navigate, 200},
		{"a file's link to the newest", "GET /newest?token=" + token + " HTTP/1.1", local + "Sec-Fetch-Site: cross-site\r\n" + navigate, 200},
		{"another site's link to the newest, without token", "GET /newest HTTP/1.1", local + "Sec-Fetch-Site: cross-site\r\n" + navigate, 403},
		{"another site's link into the data", "GET /t/0/api/whole?token=" + token + " HTTP/1.1", local + "Sec-Fetch-Site: cross-site\r\n" + navigate, 403},

		{"no token", "GET / HTTP/1.1", local, 403},
		{"no token for the data", "GET /t/0/api/whole HTTP/1.1", local, 403},
		{"wrong token", "GET /?token=" + strings.Repeat("0", 32) + " HTTP/1.1", local, 403},
		{"wrong token with the cookie", "GET /?token= HTTP/1.1", local + cookie, 403},
		{"two tokens", "GET /?token=" + token + "&token=x HTTP/1.1", local, 403},
		{"wrong cookie", "GET / HTTP/1.1", local + "Cookie: " + r.s.guard.cookie + "=x\r\n", 403},
		{"another server's cookie", "GET / HTTP/1.1", local + "Cookie: scopeview-00000000=" + token + "\r\n", 403},
		{"token", "GET /?token=" + token + " HTTP/1.1", local, 303},
		{"token of a page", "GET /t/0/?token=" + token + " HTTP/1.1", local, 303},
		{"token from evil", "GET /?token=" + token + " HTTP/1.1", "Host: evil.com\r\n", 403},

		{"POST", "POST / HTTP/1.1", local + cookie + "Content-Length: 0\r\n", 405},
		{"POST with token", "POST /?token=" + token + " HTTP/1.1", local + "Content-Length: 0\r\n", 405},
		{"PUT", "PUT /t/0/ HTTP/1.1", local + cookie + "Content-Length: 0\r\n", 405},
		{"DELETE", "DELETE /t/0/ HTTP/1.1", local + cookie, 405},
		{"OPTIONS", "OPTIONS / HTTP/1.1", local + "Origin: http://evil.com\r\nAccess-Control-Request-Method: GET\r\n", 405},
		{"OPTIONS *", "OPTIONS * HTTP/1.1", local, 405},
		{"CONNECT", "CONNECT " + r.addr + " HTTP/1.1", local, 405},
		{"TRACE", "TRACE / HTTP/1.1", local + cookie, 405},

		{"out of the tree", "GET /t/../../etc/passwd HTTP/1.1", local + cookie, 404},
		{"out of the tree, escaped", "GET /t/%2e%2e/%2e%2e/etc/passwd HTTP/1.1", local + cookie, 404},
		{"out of the tree, escaped slashes", "GET /t/..%2f..%2fetc%2fpasswd/ HTTP/1.1", local + cookie, 404},
		{"a file's name", "GET /t/a.scope/ HTTP/1.1", local + cookie, 404},
		{"another file's name", "GET /t/" + url.PathEscape(outside) + "/ HTTP/1.1", local + cookie, 404},
		{"unknown trace", "GET /t/1/ HTTP/1.1", local + cookie, 404},
		{"unknown trace's data", "GET /t/99999999999999999999/api/whole HTTP/1.1", local + cookie, 404},
		{"negative trace", "GET /t/-1/ HTTP/1.1", local + cookie, 404},
		{"unknown path", "GET /debug/pprof/ HTTP/1.1", local + cookie, 404},
		{"two slashes", "GET //evil.com/ HTTP/1.1", local + cookie, 404},
	}
	answered := 0
	for _, c := range table {
		if c.status < 400 {
			answered++
		}
		t.Run(c.name, func(t *testing.T) {
			r.t = t
			resp := r.raw(c.line + "\r\n" + c.headers + "Connection: close\r\n\r\n")
			text := ""
			if !strings.HasPrefix(c.line, "HEAD ") {
				text = body(t, resp)
			}
			if resp.StatusCode != c.status {
				t.Errorf("status %s, want %d: %s", resp.Status, c.status, text)
			}
			for name := range resp.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("the answer has %s", name)
				}
			}
			if resp.StatusCode >= 400 && (strings.Contains(text, "<") || strings.Contains(text, token)) {
				t.Errorf("the refusal is %q", text)
			}
			if resp.StatusCode == 400 && c.status == 400 {
				return // answered by net/http
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
				"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := resp.Header.Get(name); !strings.HasPrefix(got, want) {
					t.Errorf("%s is %q, want %s", name, got, want)
				}
			}
			if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") {
				t.Errorf("policy %s", csp)
			}
		})
	}
	r.t = t
	if h, pattern := http.DefaultServeMux.Handler(&http.Request{Method: "GET", URL: &url.URL{Path: "/debug/pprof/"}}); pattern == "" {
		t.Errorf("the program's own mux has no pprof, so that nothing is proved by its not being served: %v", h)
	}
	t.Logf("G28: %d requests to the live server: %d answered, %d refused, no CORS header, as the table says", len(table), answered, len(table)-answered)
}

// TestG28Timeout: a client that does not complete its request is disconnected.
func TestG28Timeout(t *testing.T) {
	s, err := New(Options{Path: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	srv := s.server()
	if d := srv.ReadHeaderTimeout; d <= 0 || d > 10*time.Second {
		t.Errorf("a request may take %v to come", d)
	}
	if srv.Handler != http.Handler(s) || srv.MaxHeaderBytes <= 0 || srv.MaxHeaderBytes > 1<<20 {
		t.Errorf("%T serves, of up to %d bytes", srv.Handler, srv.MaxHeaderBytes)
	}
	srv.ReadHeaderTimeout = 50 * time.Millisecond
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(ln)
	defer srv.Close()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: local"); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(conn); err != nil {
		t.Errorf("the connection is still open, %q: %v", b, err)
	}
}

// TestToken: the token is exchanged for a cookie that scripts and other sites can't use, and
// the redirection leads nowhere else.
func TestToken(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, nil)
	other := start(t, dir, nil)
	if r.s.guard.cookie == other.s.guard.cookie || r.s.guard.token == other.s.guard.token || len(r.s.guard.token) != 32 {
		t.Error("two servers share a secret")
	}
	get := func(target, more string) *http.Response {
		t.Helper()
		return r.raw("GET " + target + " HTTP/1.1\r\nHost: localhost:1\r\n" + more + "Connection: close\r\n\r\n")
	}
	token := "token=" + r.s.guard.token
	for target, want := range map[string]string{
		"/?" + token:                      "/",
		"/t/3/?a=b%20c&" + token + "&d=e": "/t/3/?a=b+c&d=e",
		"//evil.com/?" + token:            "/evil.com/",
		"/\\evil.com/?" + token:           "/%5Cevil.com/",
		"/%2f/evil.com/?" + token:         "/evil.com/",
		"/x/..//evil.com?" + token:        "/evil.com",
	} {
		resp := get(target, "")
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != want {
			t.Errorf("%s: %s to %q, want %q", target, resp.Status, resp.Header.Get("Location"), want)
		}
		cookies := resp.Cookies()
		if len(cookies) != 1 {
			t.Fatalf("%s: cookies %v", target, cookies)
		}
		if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 || c.Value != r.s.guard.token {
			t.Errorf("cookie %s", c)
		}
		again := get(want, "Cookie: "+cookies[0].Name+"="+cookies[0].Value+"\r\n")
		if again.StatusCode == 403 {
			t.Errorf("%s: refused with the cookie", want)
		}
	}
	resp := get("/?x=%22%3E%3Cb%3E&"+token, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n")
	text := body(t, resp)
	if resp.StatusCode != 200 || !strings.Contains(text, `content="0;url=/?x=%22%3E%3Cb%3E"`) || strings.Contains(text, "<b>") || len(resp.Cookies()) != 1 {
		t.Errorf("%s %s", resp.Status, text)
	}
	if u, err := url.Parse(r.s.Address(&net.TCPAddr{IP: net.IPv4zero, Port: 80})); err != nil || u.Host != "127.0.0.1:80" || u.RawQuery != token {
		t.Errorf("address %v, %v", u, err)
	}
}

func TestAllowHosts(t *testing.T) {
	for _, name := range []string{"", "http://a", "a:80", "*.a", "a/b", "a@b"} {
		if _, err := New(Options{Path: t.TempDir(), AllowHosts: []string{name}}); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	h, err := newHosts([]string{"[fd00::1]", "fd00::2", "Name"})
	if err != nil || !h.allow("[fd00::1]:80") || !h.allow("[fd00::2]") || !h.allow("nAME:1") || h.allow("fd00::1") {
		t.Errorf("%v, %v", h, err)
	}
}
