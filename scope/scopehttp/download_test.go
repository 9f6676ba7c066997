//go:build !scope_off

package scopehttp

import (
	"io"
	"mime"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
)

// fetch downloads into a file and returns its path and the name sent for it.
func (s *site) fetch() (path, name string) {
	s.t.Helper()
	status, text, head := s.do("GET", "download", "")
	if status != 200 {
		s.t.Fatalf("download: %d %q", status, text)
	}
	if kind := head.Get("Content-Type"); kind != "application/octet-stream" || head.Get("Content-Length") != strconv.Itoa(len(text)) {
		s.t.Errorf("%s, %s bytes; got %d", kind, head.Get("Content-Length"), len(text))
	}
	checkHeaders(s.t, head)
	_, p, err := mime.ParseMediaType(head.Get("Content-Disposition"))
	if err != nil {
		s.t.Error(err)
	}
	path = filepath.Join(s.t.TempDir(), "got.scope")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path, p["filename"]
}

func TestDownload(t *testing.T) {
	s := mount(t)
	end := recordtest.Begin(t, s.dir)
	scope.Task("a")()
	path, name := s.fetch()
	if got := names(t, path); got != "a" || !strings.HasSuffix(name, ".scope") || filepath.Base(name) != name || name == filepath.Base(scope.Path()) {
		t.Errorf("%s has %q", name, got)
	}
	if list := s.left(); len(list) != 1 {
		t.Errorf("left %q", list)
	}
	scope.Task("b")()
	end()
	path, name = s.fetch()
	if got := names(t, path); got != "a b" || name != filepath.Base(scope.Path()) {
		t.Errorf("%s has %q", name, got)
	}

	// A file that is no longer the trace is not sent.
	secret := filepath.Join(t.TempDir(), "secret")
	for _, f := range []struct {
		path string
		make func(path string) error
	}{
		{secret, func(p string) error { return os.WriteFile(p, []byte("secret"), 0o600) }},
		{scope.Path(), func(p string) error { return os.Symlink(secret, p) }},
		{scope.Path(), func(p string) error { return os.WriteFile(p, []byte("something else"), 0o600) }},
		{scope.Path(), func(p string) error { return os.Mkdir(p, 0o700) }},
		{scope.Path(), func(string) error { return nil }},
	} {
		if f.path != secret {
			if err := os.RemoveAll(f.path); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.make(f.path); err != nil {
			t.Skip(err)
		}
		if f.path != secret {
			if text := s.want(404, "download", nil); !strings.Contains(text, "any more") {
				t.Errorf("said %q", text)
			}
		}
	}
}

// TestDownloadOutlivesWriteTimeout: a server's WriteTimeout is meant for short
// responses.
func TestDownloadOutlivesWriteTimeout(t *testing.T) {
	dir := t.TempDir()
	server := httptest.NewUnstartedServer(Handler(WithDir(dir)))
	server.Config.WriteTimeout = time.Millisecond
	server.Start()
	defer server.Close()
	s := &site{t: t, dir: dir, url: server.URL + "/"}
	if err := scope.Start(dir); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	for i := range 100_000 {
		scope.Task("a", i)()
	}
	if path, _ := s.fetch(); names(t, path) == "" {
		t.Error("nothing was sent")
	}
}

// TestStalledClient: a client that does not read does not keep others from
// downloading.
func TestStalledClient(t *testing.T) {
	dir := t.TempDir()
	h := Handler(WithDir(dir)).(*handler)
	h.patience = 2 * time.Second
	server := httptest.NewServer(h)
	defer server.Close()
	if err := scope.Start(dir); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	for scope.Stats().Bytes < 32<<20 { // more than sockets hold
		for i := range 1000 {
			scope.Task("a", i, "some text that makes it long, and longer, and longer still")()
		}
	}
	address := strings.TrimPrefix(server.URL, "http://")
	for range downloadsAtOnce {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET /download HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the stalled clients", func() bool { return len(h.downloads) == downloadsAtOnce })
	s := &site{t: t, dir: dir, url: server.URL + "/"}
	if status, text, head := s.do("GET", "download", ""); status != 503 || head.Get("Retry-After") == "" {
		t.Errorf("while others download: %d, %d bytes", status, len(text))
	}
	until(t, "a download", func() bool {
		status, _, _ := s.do("GET", "download", "")
		return status == 200
	})
}

// until polls until ok.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// TestAllAtOnce: whatever clients do concurrently, each gets a sensible response,
// and downloads are complete.
func TestAllAtOnce(t *testing.T) {
	s := mount(t)
	allowed := map[string]string{
		"GET ": "200", "GET status": "200", "POST start": "200 409 507", "POST stop": "200 404", "POST filter": "200 404", "POST on": "200 404 409", "POST off": "200 404 409",
		"POST snapshot": "200 404 507", "GET download": "200 404 503",
	}
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	var all sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					scope.Task("a")()
				}
			}
		})
	}
	var clients sync.WaitGroup
	for request, want := range allowed {
		clients.Go(func() {
			method, route, _ := strings.Cut(request, " ")
			body := ""
			if route == "filter" {
				body = "expr=*"
			}
			for range rounds {
				status, text, head := s.do(method, route, body)
				if !strings.Contains(want, strconv.Itoa(status)) {
					t.Errorf("%s: %d %q, want one of %s", request, status, text, want)
				}
				if route == "download" && status == 200 && head.Get("Content-Length") != strconv.Itoa(len(text)) {
					t.Errorf("%d bytes of %s", len(text), head.Get("Content-Length"))
				}
			}
		})
	}
	clients.Wait()
	close(done)
	all.Wait()
	for _, name := range s.left() {
		if !strings.HasSuffix(name, ".scope") {
			t.Errorf("left %s", name)
			continue
		}
		names(t, filepath.Join(s.dir, name))
	}
}

// TestDownloadSegments: a trace of several files is sent as one.
func TestDownloadSegments(t *testing.T) {
	s := mount(t)
	end := recordtest.Begin(t, s.dir, scope.WithSegments(1<<20, 4))
	scope.Task("a")()
	path, _ := s.fetch()
	if got := names(t, path); got != "a" {
		t.Errorf("while it runs: %q", got)
	}
	scope.Task("b")()
	end()
	before := s.left()
	path, _ = s.fetch()
	if got := names(t, path); got != "a b" {
		t.Errorf("when it was stopped: %q", got)
	}
	if after := s.left(); len(after) != len(before) || len(after) != 2 {
		t.Errorf("%q are left, before there were %q", after, before)
	}
}
