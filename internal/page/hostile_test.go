package page

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestG26: whatever the names, keys, arguments, rows and facts of a trace are, the page runs
// only our own script, and shows them.
func TestG26(t *testing.T) {
	list := tracetest.HostileNames()
	tr := tracetest.Open(t, tracetest.Hostile(t))
	page := written(t, tr, Options{Path: `</title><script>alert(1)</script>.scope`})

	var clean strings.Builder
	if err := write(&clean, Config{Home: HomeFile}); err != nil {
		t.Fatal(err)
	}
	shape := func(page string) (list []string) {
		for _, e := range elements(t, page) {
			if e.name != "script" || !strings.Contains(e.attrs, `id="data"`) {
				list = append(list, e.name+" "+e.attrs)
			}
		}
		return slices.DeleteFunc(list, func(s string) bool { return s == "/script " })
	}
	if got, want := shape(page), shape(clean.String()); !slices.Equal(got, want) {
		t.Errorf("the page's elements are\n%q\nwant\n%q", got, want)
	}
	h := dataOf(t, page)
	for i, p := range list {
		if got, want := h.Meta.Names[i+2], valid(p); got != want {
			t.Errorf("name %d is %q, want %q", i+2, got, want)
		}
	}
	if len(h.Tile.Rows) != len(list) || h.counts["name"] != 5*len(list) {
		t.Fatalf("%d rows, %d items, want %d and five of each", len(h.Tile.Rows), h.counts["name"], len(list))
	}
	for i, r := range h.Tile.Rows {
		if r != [2]uint64{uint64(i + 1), uint64(i + 2)} {
			t.Errorf("row %d is %v", i, r)
		}
	}
	for _, s := range h.Tile.Strings {
		if !utf8.ValidString(s) {
			t.Errorf("arguments %q", s)
		}
	}
	t.Logf("G26: %d hostile names as names, rows, keys, values, notes and facts: the page's %d elements are those of a page without", len(list), len(shape(page)))
}

// valid returns a name with each byte of invalid UTF-8 replaced by U+FFFD.
func valid(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// TestG26Policy: the page runs, and may load, only what its policy lists.
func TestG26Policy(t *testing.T) {
	for home, connect := range map[string]string{HomeFile: "'none'", HomeLive: "'self'"} {
		var b strings.Builder
		if err := Page(&b, Config{Home: home, Base: "/t/</script>0/"}); err != nil {
			t.Fatal(err)
		}
		var policy string
		var running, styles []string
		before := true
		for _, e := range elements(t, b.String()) {
			switch e.name {
			case "meta":
				if strings.Contains(e.attrs, "Content-Security-Policy") {
					policy = e.attrs
				}
			case "script":
				if strings.Contains(e.attrs, `type="module"`) {
					running = append(running, hash(e.content))
				} else if !strings.Contains(e.attrs, `id="config" type="application/json"`) {
					t.Errorf("script %q", e.attrs)
				}
				before = before && policy != ""
			case "style":
				styles = append(styles, hash(e.content))
				before = before && policy != ""
			}
		}
		if len(running) != 1 || len(styles) != 1 || !before {
			t.Fatalf("%d scripts, %d styles, policy first: %v", len(running), len(styles), before)
		}
		for _, want := range []string{"default-src 'none'", "script-src " + running[0] + ";", "style-src " + styles[0] + ";", "connect-src " + connect + ";", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", home, policy, want)
			}
		}
	}
}
