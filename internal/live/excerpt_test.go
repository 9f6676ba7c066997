//go:build linux || darwin

package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// TestExcerpt: a range of a trace, also of one that is being written, is sent as a trace that has the
// scopes of the range; afterwards no file of it is left.
func TestExcerpt(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	growing := record(t)
	scope.Task("recorded")()
	for deadline := time.Now().Add(patience); events(t, growing) == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) { // the heap's records reach the file within a second
			t.Fatal("what was recorded does not reach the file")
		}
	}
	bulk := filepath.Join(t.TempDir(), "bulk.scope")
	filetest.Write(t, bulk, tracetest.Bulk(20, true))
	for _, path := range []string{bulk, growing} {
		r := start(t, path, nil)
		tr := tracetest.OpenFile(t, path)
		defer tr.Close()
		from, to := tr.End()/4, tr.End()/2
		if path == growing {
			from, to = 0, tr.End()
		}
		resp := r.get(fmt.Sprintf("/t/0/api/excerpt?from=%d&to=%d", from, to))
		got, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || resp.ContentLength != int64(len(got)) {
			t.Fatalf("%s: %s, %v, %d of %d bytes", path, resp.Status, err, len(got), resp.ContentLength)
		}
		if _, p, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err != nil || !strings.HasSuffix(p["filename"], "s.scope") {
			t.Errorf("%s: the file is called %q, %v", path, p["filename"], err)
		}
		part, err := trace.Open(bytes.NewReader(got), int64(len(got)))
		if err != nil {
			t.Fatal(err)
		}
		if begin, end, ok := part.Excerpt(); !ok || begin != from || end < to-1 {
			t.Errorf("%s: it is from %d to %d, %v, want %d to %d", path, begin, end, ok, from, to)
		}
		want, have := 0, 0
		for range tracetest.Events(t, tr, trace.Options{From: from, To: to}) {
			want++
		}
		for range tracetest.Events(t, part, trace.Options{From: from, To: to}) {
			have++
		}
		if have != want || want == 0 || len(analysis.Damage(part.Problems())) > 0 {
			t.Errorf("%s: %d events of %d; %+v", path, have, want, part.Problems())
		}
	}
	nothingLeft(t, temp)
}

// events returns the number of a file's events.
func events(t *testing.T, path string) (n int) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	defer tr.Close()
	for range tracetest.Events(t, tr, trace.Options{}) {
		n++
	}
	return n
}

// nothingLeft waits until a directory is empty.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		list, err := os.ReadDir(dir)
		if err == nil && len(list) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v are left: %v", list, err)
		}
	}
}

// TestExcerptRefused: a range that makes no sense, or that the trace does not have, has an answer that
// says so, and a cancelled request leaves nothing.
func TestExcerptRefused(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	path := filepath.Join(t.TempDir(), "bulk.scope")
	filetest.Write(t, path, tracetest.Bulk(200, true))
	r := start(t, path, nil)
	for query, want := range map[string]int{
		"": http.StatusBadRequest, "from=2&to=1": http.StatusBadRequest, "from=x&to=1": http.StatusBadRequest,
		"from=900000000000&to=900000000001": http.StatusRequestedRangeNotSatisfiable, "from=1&to=2&of=0123": http.StatusConflict,
	} {
		resp := r.get("/t/0/api/excerpt?" + query)
		if text := body(t, resp); resp.StatusCode != want || len(text) < 20 {
			t.Errorf("%s: %s: %q", query, resp.Status, text)
		}
	}
	if resp := r.get("/t/7/api/excerpt?from=1&to=2"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("%s", resp.Status)
	}
	for after := time.Duration(0); after < 20*time.Millisecond; after += 2 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+"/t/0/api/excerpt?from=0&to=9000000000", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(&http.Cookie{Name: r.s.guard.cookie, Value: r.s.guard.token})
		if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
		cancel()
	}
	nothingLeft(t, temp)
}

// TestExcerptShown: the page of an excerpt has its range, and its doctor examines that only.
func TestExcerptShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.scope")
	tracetest.Write(t, path, `header clock=monotonic path=go start=1000
state closed=1 tick=9000000
chunk blocks sealed flags=final
name 2 "work"
info "excerpt_from_ns" "3000000"
info "excerpt_to_ns" "4000000"
stop ticks=9000000
chunk records sealed flags=final
task "work" g=7 start=1200 stop=8000000
`)
	r := start(t, path, nil)
	v := r.view()
	if x := v.meta.Excerpt; x == nil || *x != [2]int64{3000000, 4000000} || v.meta.End != 8999000 {
		t.Errorf("%v of %d", x, v.meta.End)
	}
	said := ""
	for _, s := range v.meta.Banner {
		said += s.Text + "\n"
	}
	if !strings.Contains(said, "An excerpt: from 3.00ms to 4.00ms of a recording of 9.00ms") {
		t.Errorf("%s", said)
	}
	var doc struct {
		From int64 `json:"from_ns"`
		To   int64 `json:"to_ns"`
	}
	decode(t, r.get("/t/0/api/doctor"), &doc)
	if doc.From != 3000000 || doc.To != 4000000 {
		t.Errorf("%+v", doc)
	}
}
