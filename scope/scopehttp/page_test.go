//go:build !scope_off

package scopehttp

import (
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
)

// TestPage: each action is a form of plain HTML, styled only by the page's own
// style.
func TestPage(t *testing.T) {
	hostile := filepath.Join(t.TempDir(), `"><script>alert(1)<`)
	if err := os.MkdirAll(hostile, 0o700); err != nil {
		t.Skip("no such directory here: ", err)
	}
	s := mount(t, WithDir(hostile))
	_, stopped, head := s.do("GET", "", "")
	if p := head.Get("Content-Security-Policy"); p != policy() || !strings.Contains(p, "form-action 'self'") || head.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s, %s", p, head.Get("Content-Type"))
	}
	s.want(200, "start", url.Values{"path": {hostile}, "filter": {"<b>"}})
	_, running, _ := s.do("GET", "", "")
	_, done, head := s.do("POST", "filter", "expr=%3Ci%3E", "Accept: text/html,*/*", "Sec-Fetch-Site: same-origin")
	if !strings.Contains(done, `role="status">the filter is now &lt;i&gt;`) || head.Get("Content-Security-Policy") != policy() {
		t.Errorf("a browser's form: %s", done)
	}
	for _, page := range []string{stopped, running, done} {
		if regexp.MustCompile(`(?i)<script|<b>|<i>| on\w+=|style=|javascript:|src=`).MatchString(page) || strings.Count(page, "<style>") != 1 {
			t.Errorf("there is more than text and forms: %s", page)
		}
	}
	if !strings.Contains(stopped, "prefers-color-scheme: dark") {
		t.Error("there is no dark mode")
	}
	// Each form is accepted by its route.
	actions := regexp.MustCompile(`<form method="post" action="(\w+)"`)
	var forms []string
	for _, m := range actions.FindAllStringSubmatch(stopped+running, -1) {
		forms = append(forms, m[1])
	}
	if got := strings.Join(forms, " "); got != "start filter snapshot off stop" {
		t.Errorf("the forms are %s", got)
	}
	s.want(200, "stop", none)
	for _, form := range regexp.MustCompile(`name="(\w+)"`).FindAllStringSubmatch(stopped, -1) {
		if form[1] == "viewport" {
			continue
		}
		value := map[string]string{"path": s.dir, "ring": "4M", "limit": "2M", "filter": "a"}[form[1]]
		s.want(200, "start", url.Values{form[1]: {value}})
		s.want(200, "stop", none)
	}
}

// TestG26: whatever a client sends, the page that repeats it has no more
// elements than one that repeats nothing, and error responses have none.
func TestG26(t *testing.T) {
	s := mount(t)
	s.want(200, "start", none)
	_, plain, _ := s.do("POST", "filter", "expr=a", "Accept: text/html")
	want := strings.Count(plain, "<")
	shown, refused := 0, 0
	for _, name := range tracetest.HostileNames() {
		status, text, head := s.do("POST", "filter", url.Values{"expr": {name}}.Encode(), "Accept: text/html")
		switch got := strings.Count(text, "<"); {
		case status == 200 && name != "" && strings.TrimSpace(name) != "":
			if shown++; got != want || head.Get("Content-Security-Policy") != policy() {
				t.Errorf("the filter %q makes %d tags, want %d", name, got, want)
			}
		case status != 200:
			if refused++; !strings.HasPrefix(head.Get("Content-Type"), "text/plain") || head.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the filter %q: %d as %s", name, status, head.Get("Content-Type"))
			}
		}
	}
	if want == 0 || shown < 100 {
		t.Errorf("%d were shown, %d refused", shown, refused)
	}
	t.Logf("G26: %d hostile filters repeated by the program's page, %d refused in plain text: %d tags, as always", shown, refused, want)
}

// TestPageShowsLosses: lost records are listed by reason, with unknown losses
// marked.
func TestPageShowsLosses(t *testing.T) {
	s := &scope.Statistics{Lost: scope.Lost{Limit: 1234567, Ends: 3, Stacks: 1}}
	if got, want := losses(s), "1,234,567 (beyond the limit: WithLimit, WithRing), 1 (calls of Stack, faster than they could be counted), 3 (ends of scopes that show as open)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := losses(&scope.Statistics{Lost: scope.Lost{Unknown: true}}); !strings.Contains(got, "unknown") {
		t.Errorf("of counters that were changed the page says %q", got)
	}
	if got := losses(&scope.Statistics{}); got != "" {
		t.Errorf("%q", got)
	}
}

// TestLossesHasEachReason: each field of scope.Lost has its own text.
func TestLossesHasEachReason(t *testing.T) {
	words := map[string]string{}
	for i := range reflect.TypeFor[scope.Lost]().NumField() {
		var s scope.Statistics
		f := reflect.ValueOf(&s.Lost).Elem().Field(i)
		if f.Kind() != reflect.Int64 {
			continue
		}
		f.SetInt(1)
		name, got := reflect.TypeFor[scope.Lost]().Field(i).Name, losses(&s)
		if other := words[got]; got == "" || other != "" {
			t.Errorf("%s: %q, as %s", name, got, other)
		}
		words[got] = name
	}
}
