package live

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// recordAgain writes another recording under the path of one, as a new file or into the
// same.
func recordAgain(t *testing.T, path string, into bool) {
	t.Helper()
	temp := filepath.Join(t.TempDir(), "again.scope")
	tracetest.Write(t, temp, strings.ReplaceAll(strings.Replace(described, "pid=4711", "pid=4712 id="+strings.Repeat("9", 32), 1), "fast", "anew"))
	if !into {
		if err := os.Rename(temp, path); err != nil {
			t.Fatal(err)
		}
		return
	}
	b := filetest.Read(t, temp)
	filetest.Write(t, path, b)
}

// TestG45Anew: a page's data is not mixed with another recording under the same path: each
// of its requests is then answered with 409, and the reloaded page gets the other recording.
func TestG45Anew(t *testing.T) {
	asked := 0
	for _, into := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "a.scope")
		tracetest.Write(t, path, described)
		r := start(t, path, nil)
		p := container(t, r.get("/t/0/api/whole"))
		if len(p.Meta.ID) != 32 {
			t.Fatalf("the recording is %q", p.Meta.ID)
		}
		requests := []string{
			"whole?", "tile?from=0&to=900&px=10&", "summary?from=0&to=900&", "runs?name=2&from=0&to=900&", "request?trace=01234567&",
			"waits?from=0&to=900&px=10&", "doctor?", "advice?", "samples?", "live?cursor=" + p.Meta.Live.Cursor + "&", "same?",
		}
		for _, replaced := range []bool{false, true} {
			if replaced {
				recordAgain(t, path, into)
			}
			for _, q := range requests {
				asked++
				resp := r.get("/t/0/api/" + q + "of=" + p.Meta.ID)
				if text := body(t, resp); (resp.StatusCode == http.StatusConflict) != replaced || !replaced && resp.StatusCode >= 300 || replaced && !strings.Contains(text, "recorded to the same path") {
					t.Errorf("replaced %v, %s: %d %.200s", replaced, q, resp.StatusCode, text)
				}
			}
		}
		now := container(t, r.get("/t/0/api/whole"))
		if now.Meta.ID == p.Meta.ID || !strings.Contains(strings.Join(now.Meta.Names, " "), "anew") {
			t.Errorf("loaded again it is %s with %q", now.Meta.ID, now.Meta.Names)
		}
		// A removed file may come back; one that is no longer a trace is gone.
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if resp := r.get("/t/0/api/same?of=" + now.Meta.ID); resp.StatusCode != http.StatusNotFound {
			t.Errorf("removed: %s", resp.Status)
		}
		filetest.Write(t, path, []byte("text"))
		if resp := r.get("/t/0/api/same?of=" + now.Meta.ID); resp.StatusCode != http.StatusGone {
			t.Errorf("text in its place: %s", resp.Status)
		}
	}
	t.Logf("G45: %d requests of pages, half of them after another recording took the place", asked)
}

// TestG45Spoilt: if a recording's file becomes shorter than what a page has, or no
// recording, the page's requests are answered with 410, from the first one on.
func TestG45Spoilt(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(path string, size int64) error
		want  int
	}{
		{"not touched", func(string, int64) error { return nil }, http.StatusNoContent},
		{"written to its end again", func(path string, size int64) error { return os.Truncate(path, size) }, http.StatusNoContent},
		{"emptied", func(path string, _ int64) error { return os.Truncate(path, 0) }, http.StatusGone},
		{"a byte less", func(path string, size int64) error { return os.Truncate(path, size-1) }, http.StatusGone},
		{"half", func(path string, size int64) error { return os.Truncate(path, size/2) }, http.StatusGone},
		{"zeros", func(path string, size int64) error { return os.WriteFile(path, make([]byte, size), 0o600) }, http.StatusGone},
		{"text", func(path string, _ int64) error { return os.WriteFile(path, []byte("text"), 0o600) }, http.StatusGone},
		{"a directory", func(path string, _ int64) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, http.StatusGone},
		{"removed", func(path string, _ int64) error { return os.Remove(path) }, http.StatusNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.scope")
			tracetest.Write(t, path, described)
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, path, nil)
			id := container(t, r.get("/t/0/api/whole")).Meta.ID
			if err := test.spoil(path, st.Size()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a repeated request gets the same answer
				if resp := r.get("/t/0/api/same?of=" + id); resp.StatusCode != test.want {
					t.Errorf("%s: %s", resp.Status, body(t, resp))
				}
			}
		})
	}
}

// TestG45Whose: each answer identifies its server, even a refusal: a later server on the
// port has another identity.
func TestG45Whose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	tracetest.Write(t, path, described)
	seen := map[string]bool{}
	for range 2 {
		r := start(t, path, nil)
		for _, at := range []string{"/", "/t/0/api/whole", "/t/0/api/same?of=1", "/t/9/api/same", "/nothing"} {
			resp := r.get(at)
			if body(t, resp); resp.Header.Get("Scopeview") != r.s.guard.cookie {
				t.Errorf("%s is answered by %q, want %s", at, resp.Header.Get("Scopeview"), r.s.guard.cookie)
			}
		}
		seen[r.s.guard.cookie] = true
	}
	if len(seen) != 2 {
		t.Errorf("two servers are called %v", seen)
	}
}

// TestG45AnewJoined: a joint timeline is made again when one of its traces is replaced.
func TestG45AnewJoined(t *testing.T) {
	dir := t.TempDir()
	processes(t, dir)
	r := start(t, dir, always)
	listOf(t, r)
	base := r.joinedPage("t=0&t=1")
	id := container(t, r.get(base+"api/whole")).Meta.ID
	if resp := r.get(base + "api/same?of=" + id); resp.StatusCode != http.StatusNoContent {
		t.Errorf("%s", resp.Status)
	}
	recordAgain(t, filepath.Join(dir, "front.scope"), false)
	if resp := r.get(base + "api/same?of=" + id); resp.StatusCode != http.StatusConflict {
		t.Errorf("of a part that was recorded anew: %s", resp.Status)
	}
	resp := r.raw("GET " + base + " HTTP/1.1\r\nHost: " + r.addr + "\r\nCookie: " + r.s.guard.cookie + "=" + r.s.guard.token + "\r\nConnection: close\r\n\r\n")
	body(t, resp)
	if want := "/joined?t=0&t=1"; resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != want {
		t.Errorf("its page: %s to %q, want %s", resp.Status, resp.Header.Get("Location"), want)
	}
	if next := r.joinedPage("t=0&t=1"); next == base {
		t.Error("it is not made again")
	}
}
