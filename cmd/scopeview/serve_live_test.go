//go:build linux || darwin

package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// TestG25Serve: the page reports a file that shrinks under serve; the server continues, and ends
// normally.
func TestG25Serve(t *testing.T) {
	l := newLive(t)
	l.begin()
	for i := range int64(100) {
		l.scope(2, 2000+10*i, 2005+10*i)
	}
	v := serve(t, l.path)
	u, err := url.Parse(v.url)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := v.get(v.url); status != http.StatusOK { // its answer sets the cookie
		t.Fatalf("the page: %d", status)
	}
	whole := "http://" + u.Host + "/t/0/api/whole"
	if status, text := v.get(whole); status != http.StatusOK {
		t.Fatalf("the data: %d %s", status, text)
	}
	requests := 2
	sizes := []int64{2*format.ChunkSize + 100, format.ChunkSize + 7, 100, 0}
	for _, size := range sizes {
		if err := l.f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(300 * time.Millisecond); time.Now().Before(deadline); requests++ { // some polls of the file
			status, text := v.get(whole)
			if status != http.StatusOK && (text == "" || strings.Contains(text, "runtime error")) {
				t.Errorf("cut to %d bytes: %d %s", size, status, text)
			}
		}
	}
	if status, text := v.get("http://" + u.Host + "/t/0/"); status >= 500 && !strings.Contains(text, "trace") {
		t.Errorf("the page after all: %d %s", status, text)
	}
	if code, errs := v.ends(); code != exitOK || errs != "" {
		t.Errorf("exit %d, %s", code, errs)
	}
	t.Logf("G25: serve, its file cut to %v bytes: %d requests were answered, and it ended with code 0", sizes, requests)
}
