//go:build linux || darwin

package live

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestSQL: a page's question is answered, within limits, and only if it reads.
func TestSQL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	tracetest.Write(t, path, "header start=1000\nstate closed=1 tick=9000\nchunk blocks\nname 2 \"n<b>\"\nstop ticks=9000\nchunk records\ntask \"n<b>\" g=7 start=2000 stop=3000 cpu=0/unknown\n")
	r := start(t, path, nil)
	ask := func(text string) string { return "/t/0/api/sql?q=" + url.QueryEscape(text) }
	var a sqlAnswer
	decode(t, r.get(ask("SELECT name, start_ns, dur_ns, cpu_ns, 9007199254740993, 1e999, x'00ff' FROM scopes")), &a)
	if len(a.Rows) != 1 || a.Rows[0][0] != "n<b>" || a.Rows[0][1] != 1000.0 || a.Rows[0][2] != 1000.0 || a.Rows[0][3] != nil || a.Rows[0][4] != "9007199254740993" || a.Rows[0][5] != "+Inf" || a.Rows[0][6] != "00ff" || a.More != "" {
		t.Errorf("%+v", a)
	}
	decode(t, r.get(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")), &a)
	if len(a.Rows) != answerRows || a.More == "" {
		t.Errorf("%d rows, more %q", len(a.Rows), a.More)
	}
	decode(t, r.get(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hex(zeroblob(400000)) FROM n")), &a)
	if len(a.Rows) != 21 || a.More == "" {
		t.Errorf("%d large rows, more %q", len(a.Rows), a.More)
	}
	decode(t, r.get(ask("SELECT * FROM states")), &a)
	if len(a.Notes) != 1 {
		t.Errorf("%+v", a)
	}
	for text, want := range map[string]string{
		"":                          "there is no question",
		"SELECT x FROM scopes":      "no such column: x; there is scopes(",
		"DELETE FROM scopes":        "only reads",
		"ATTACH '/etc/passwd' AS x": "only reads",
		"SELECT 1; ATTACH 'x' AS x": "more than one statement",
	} {
		var a sqlAnswer
		if decode(t, r.get(ask(text)), &a); !strings.Contains(a.Refused, want) || a.Rows != nil {
			t.Errorf("%.40s: %+v", text, a)
		}
	}
	if resp := r.get("/t/0/api/sql?of=other&q=" + url.QueryEscape("SELECT 1")); resp.StatusCode != http.StatusConflict && resp.StatusCode != http.StatusGone {
		t.Errorf("a question about another recording: %s", resp.Status)
	}
}

// TestSQLOfExcerpt: of an excerpt only its range is asked, as the page shows it.
func TestSQLOfExcerpt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	tracetest.Write(t, path, `header start=1000
state closed=1 tick=9000
chunk blocks
name 2 "a"
name 3 "b"
info "excerpt_from_ns" "4000"
info "excerpt_to_ns" "6000"
stop ticks=9000
chunk records
task "a" g=7 start=2000 stop=3000 cpu=0/unknown
task "b" g=7 start=5500 stop=6500 cpu=0/unknown
task "a" g=7 start=8000 stop=8500 cpu=0/unknown
`)
	r := start(t, path, nil)
	var a sqlAnswer
	decode(t, r.get("/t/0/api/sql?q="+url.QueryEscape("SELECT name FROM scopes")), &a)
	if len(a.Rows) != 1 || a.Rows[0][0] != "b" {
		t.Errorf("%+v", a)
	}
}

// TestSQLEnds: an endless question ends after its time, or when the page has gone, and makes room for
// the next one.
func TestSQLEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.scope")
	tracetest.Write(t, path, "header start=1000\nstate closed=1 tick=9000\nchunk blocks\nname 2 \"n\"\nstop ticks=9000\nchunk records\ntask \"n\" g=7 start=2000 stop=3000 cpu=0/unknown\n")
	r := start(t, path, func(s *Server) { s.questionIn = 200 * time.Millisecond })
	endless := "/t/0/api/sql?q=" + url.QueryEscape("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i = 1")
	var a sqlAnswer
	if decode(t, r.get(endless), &a); !strings.Contains(a.Refused, "takes more than 200ms") {
		t.Errorf("%+v", a)
	}
	r = start(t, path, nil)
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+r.addr+endless, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: r.s.guard.cookie, Value: r.s.guard.token})
	if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
		t.Errorf("%s", resp.Status)
	}
	decode(t, r.get("/t/0/api/sql?q="+url.QueryEscape("SELECT 1")), &a)
	if len(a.Rows) != 1 {
		t.Errorf("%+v", a)
	}
}
