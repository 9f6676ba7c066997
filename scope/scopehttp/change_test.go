//go:build !scope_off

package scopehttp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// left lists the directory's files.
func (s *site) left() []string {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestRecording follows a recording that is started from outside.
func TestRecording(t *testing.T) {
	s := mount(t)
	s.want(404, "stop", none)
	s.want(404, "snapshot", none)
	s.want(404, "filter", url.Values{"expr": {"a"}})

	said := s.want(200, "start", url.Values{"ring": {"4M"}, "limit": {""}, "filter": {"*,-left.*"}, "path": {s.dir}})
	if said != "recording to "+scope.Path()+"\n" || filepath.Dir(scope.Path()) != s.dir {
		t.Fatalf("said %q; the trace is %s", said, scope.Path())
	}
	if text := s.want(409, "start", none); !strings.Contains(text, "a recording is running") {
		t.Errorf("a second start: %q", text)
	}
	scope.Task("kept")()
	scope.Task("left.out")()
	status := func() (v struct {
		Running  bool
		Recorded int64
		Filter   string
	}) {
		if err := json.Unmarshal([]byte(s.want(200, "status", nil)), &v); err != nil {
			t.Error(err)
		}
		return v
	}
	if v := status(); !v.Running || v.Recorded < 1 || v.Filter != "*,-left.*" {
		t.Errorf("status %+v", v)
	}
	s.want(200, "filter", url.Values{"expr": {""}})
	scope.Task("left.later")()
	if v := status(); v.Filter != "" {
		t.Errorf("status %+v", v)
	}

	path := strings.TrimSuffix(s.want(200, "snapshot", none), "\n")
	if filepath.Dir(path) != s.dir {
		t.Errorf("the snapshot is %q", path)
	}
	if got := names(t, path); got != "kept left.later" {
		t.Errorf("the snapshot has %q", got)
	}
	first := scope.Path()
	if said := s.want(200, "stop", none); said != "stopped; the trace is "+first+"\n" {
		t.Errorf("said %q", said)
	}
	if got := names(t, first); got != "kept left.later" {
		t.Errorf("the trace has %q", got)
	}
	s.want(404, "stop", none)

	// The next recording has its own filter.
	s.want(200, "start", none)
	if v := status(); v.Filter != "" || scope.Path() == first {
		t.Errorf("status %+v of %s", v, scope.Path())
	}
}

// TestSwitch: a recording that is switched off can be continued, and every
// process with access to the file uses the same switch.
func TestSwitch(t *testing.T) {
	s := mount(t)
	s.want(404, "on", none)
	s.want(404, "off", none)
	if err := scope.Start(s.dir, scope.WithFlushEvery(10*time.Millisecond), scope.WithFilter("-left")); err != nil {
		t.Fatal(err)
	}
	path := scope.Path()
	for range 2 {
		if said := s.want(200, "off", none); !strings.Contains(said, "switched off") || !scope.Stats().Off {
			t.Errorf("said %q", said)
		}
		scope.Task("while.off")()
		if page := s.want(200, "", nil); !strings.Contains(page, `action="on"`) || !strings.Contains(page, "nothing is recorded") {
			t.Errorf("the page: %s", page)
		}
		if said := s.want(200, "filter", url.Values{"expr": {"-left,-later"}}); !strings.Contains(said, "switched off") {
			t.Errorf("said %q", said)
		}
		if said := s.want(200, "on", none); !strings.Contains(said, "-left") || scope.Stats().Off {
			t.Errorf("said %q", said)
		}
		scope.Task("on")()
		scope.Task("left")()
	}
	s.want(200, "stop", none)
	if got := names(t, path); got != "on on" {
		t.Errorf("the trace has %q", got)
	}
}

// TestG29: a file planted in place of the running recording's trace is neither
// read nor written, even if it would accept a request.
func TestG29(t *testing.T) {
	s := mount(t)
	victim := filepath.Join(t.TempDir(), "victim")
	empty := make([]byte, 2*format.ChunkSize)
	n := 0
	for what, plant := range map[string]func(path string) error{
		"a link":         func(p string) error { return os.Symlink(victim, p) },
		"a hard link":    func(p string) error { return os.Link(victim, p) },
		"another's file": func(p string) error { return os.WriteFile(p, empty, 0o666) },
		"a directory":    func(p string) error { return os.Mkdir(p, 0o777) },
		"nothing":        func(string) error { return nil },
	} {
		filetest.Write(t, victim, empty)
		if err := scope.Start(s.dir, scope.WithFlushEvery(10*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		path := scope.Path()
		if err := os.Rename(path, path+".moved"); err != nil {
			t.Skip("an open file can't be renamed here: ", err)
		}
		if err := plant(path); err != nil {
			t.Skip("no links here: ", err)
		}
		for _, route := range []string{"off", "on"} {
			if text := s.want(404, route, none); !strings.Contains(text, "any more") {
				t.Errorf("%s, %s: said %q", what, route, text)
			}
			n++
		}
		if b, err := os.ReadFile(victim); err != nil || !bytes.Equal(b, empty) {
			t.Errorf("%s was written to: %v", what, err)
		}
		if b, err := os.ReadFile(path); err == nil && !bytes.Equal(b, empty) {
			t.Errorf("%s was written to", what)
		}
		s.want(200, "stop", none)
	}
	t.Logf("G29: %d requests while something else lies in the trace's place: refused, nothing written", n)
}

// TestRecorderDoesNotAnswer: a waiting client gets an error, and a client that
// has gone is not waited for.
func TestRecorderDoesNotAnswer(t *testing.T) {
	dir := t.TempDir()
	if err := scope.Start(dir, scope.WithFlushEvery(time.Hour)); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	h := Handler(WithDir(dir)).(*handler)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, "POST", "/off", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 504 {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// names returns the names of a trace's tasks.
func names(t *testing.T, path string) string {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	var list []string
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if n := tr.Name(e.Name); n != "" {
			list = append(list, n)
		}
	}
	return strings.Join(list, " ")
}

// TestWhereToWrite: a client can't choose another directory.
func TestWhereToWrite(t *testing.T) {
	other := t.TempDir()
	made := filepath.Join(t.TempDir(), "a", "b")
	s := mount(t, WithDir(made))
	if err := os.Symlink(other, filepath.Join(s.dir, "link")); err != nil {
		t.Log("no symbolic links here: ", err)
	}
	for _, path := range []string{
		other, "/", ".", "..", "relative", s.dir + "/..", s.dir + "/link", s.dir + "/new", s.dir + "/x.scope",
		s.dir + "\x00", filepath.Dir(made), os.TempDir(), "~", "http://localhost/",
	} {
		if text := s.want(403, "start", url.Values{"path": {path}}); !strings.Contains(text, "WithDir") {
			t.Errorf("%q: %q", path, text)
		}
	}
	for _, path := range []string{"", s.dir, s.dir + "/", s.dir + "/link/..", made} {
		want := s.dir
		if path == made {
			want = made
		}
		if s.want(200, "start", url.Values{"path": {path}}); filepath.Dir(scope.Path()) != want {
			t.Errorf("%q: the trace is %s", path, scope.Path())
		}
		s.want(200, "stop", none)
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestDefaultDirectory: without WithDir it is the directory for temporary files.
func TestDefaultDirectory(t *testing.T) {
	s := mount(t)
	t.Setenv("TMPDIR", s.dir)
	t.Setenv("TMP", s.dir)
	h := Handler().(*handler)
	if got, err := h.dir(""); err != nil || got != filepath.Clean(os.TempDir()) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := h.dir(t.TempDir()); err == nil {
		t.Errorf("%q is allowed", got)
	}
}

func TestForms(t *testing.T) {
	s := mount(t, WithMaxBytes(64<<20))
	const plain, form = "Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded"
	for _, c := range []struct {
		name, route, body, kind string
		want                    int
		text                    string
	}{
		{"misspelt", "start", "rign=1M", form, 400, `no field "rign"`},
		{"twice", "start", "ring=1M&ring=2M", form, 400, "2 times"},
		{"no number", "start", "ring=many", form, 400, "256M"},
		{"negative", "start", "limit=-1", form, 400, "256M"},
		{"none", "start", "limit=none", form, 400, "256M"},
		{"two units", "start", "limit=1MM", form, 400, "256M"},
		{"only a unit", "start", "limit=M", form, 400, "256M"},
		{"more than there is", "start", "limit=9223372036854775807G", form, 400, "256M"},
		{"too small", "start", "limit=1K", form, 400, "least"},
		{"more than allowed", "start", "limit=65M", form, 403, "allows"},
		{"a ring that is more than allowed", "start", "ring=1G", form, 403, "allows"},
		{"both", "start", "ring=8M&limit=8M", form, 400, "WithRing and WithLimit"},
		{"a filter that is none", "start", "filter=a,,b", form, 400, "a pattern is empty"},
		{"a filter that is too long", "start", "filter=" + strings.Repeat("*a,", 1400) + "b", form, 400, "at most 4000"},
		{"in the address", "start?ring=1M", "", form, 400, "body"},
		{"in the address too", "stop?x", "", form, 400, "body"},
		{"not escaped", "start", "ring=%zz", form, 400, "escape"},
		{"text", "start", "ring=1M", plain, 415, "curl -d"},
		{"JSON", "start", "{}", "Content-Type: application/json", 415, "curl -d"},
		{"files", "start", "x", "Content-Type: multipart/form-data; boundary=x", 415, "curl -d"},
		{"no type", "start", "x", "Content-Type: ;;", 415, "curl -d"},
		{"large", "start", "filter=" + strings.Repeat("a", maxBody), form, 413, "65536 bytes"},
		{"no expression", "filter", "", form, 400, "expr"},
	} {
		status, text, _ := s.do("POST", c.route, c.body, c.kind)
		if status != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %q, want %d with %q", c.name, status, text, c.want, c.text)
		}
	}
	if list := s.left(); len(list) != 0 {
		t.Errorf("left %q", list)
	}
	s.want(200, "start", url.Values{"limit": {"64m"}})
	s.want(400, "filter", url.Values{"expr": {"a,,b"}})
	if text := s.want(400, "filter", url.Values{"expr": {strings.Repeat("*a,", 4000) + "b"}}); !strings.Contains(text, "at most 4000") {
		t.Errorf("a filter that is too long: %s", text)
	}
}

// TestFilesAreBounded: a client that asks again and again can't fill the disk.
func TestFilesAreBounded(t *testing.T) {
	s := mount(t)
	s.want(200, "start", none)
	first := scope.Path()
	for range maxFiles - 1 {
		s.want(200, "snapshot", none)
	}
	if text := s.want(507, "snapshot", none); !strings.Contains(text, first) {
		t.Errorf("said %q", text)
	}
	s.want(200, "stop", none)
	s.want(507, "start", none)
	if n := len(s.left()); n != maxFiles {
		t.Errorf("%d files", n)
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	s.want(200, "start", none)
	s.want(507, "snapshot", none)
}
