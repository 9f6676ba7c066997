package uitest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/uitest/browser"
)

// elements counts the elements of each kind that a name could have made.
const elements = `Object.fromEntries(["script", "img", "iframe", "svg", "object", "link", "base", "form", "style", "[onload],[onerror],[onclick],[onfocus]"].map((s) => [s, document.querySelectorAll(s).length]))`

// TestG26Browser shows a trace whose every name is an attack: as rows, scopes,
// arguments, locks, events and counters, in a file and live.
func TestG26Browser(t *testing.T) {
	trace := record(t, "hostile", 0)
	for home, address := range map[string]func(t *testing.T, trace string) string{
		"file": func(t *testing.T, trace string) string { return fileURL(pageOf(t, trace)) },
		"live": serve,
	} {
		t.Run(home, func(t *testing.T) {
			var harmless map[string]int
			show(t, address(t, storeTrace(t)), browser.View{}).read(&harmless, elements)
			attack(t, show(t, address(t, trace), browser.View{}), harmless)
			t.Logf("G26: %d hostile names looked at in every view of a browser", len(tracetest.HostileNames()))
		})
	}
}

func attack(t *testing.T, tb *tab, harmless map[string]int) {
	t.Helper()
	for _, key := range []string{"Digit1", "Digit2", "Digit3", "Digit4", "Digit5", "Digit6", "Digit7", "Digit8", "Digit9", "KeyV", "Digit2"} {
		tb.press(key)
	}
	tb.read(nil, `document.querySelectorAll("#panel .sortable-box .more:not([hidden])").forEach((b) => b.click())`)
	v := tb.table("#panel")
	column := v.column(t, "name")
	for _, name := range tracetest.HostileNames() {
		want := visible(cut(name))
		if want != "" && !slices.ContainsFunc(v.Rows, func(row []string) bool { return visible(row[column]) == want }) {
			t.Errorf("the Summary does not show the name %q literally", name)
		}
	}
	// The pop-up, the details, the search, the rows' labels further down.
	b := tb.box(canvas)
	for y := b.Y + 4; y < b.Y+b.Height; y += 9 {
		tb.check(tb.Point(b.X+b.Width*0.3, y))
		tb.settle()
	}
	tb.search("<script>")
	for range 10 {
		tb.press("Enter")
	}
	tb.check(tb.Wheel(b.X+b.Width/2, b.Y+b.Height/2, 0, 3000))
	tb.press("Tab", "KeyG", "KeyG", "KeyT")
	tb.check(tb.Press("KeyT", browser.Shift)) // the text table
	tb.settle()
	var pwned bool
	tb.read(&pwned, tracetest.Pwned+" !== undefined")
	if pwned {
		t.Error("a name's script ran")
	}
	var got map[string]int
	tb.read(&got, elements)
	for what, n := range got {
		if n != harmless[what] {
			t.Errorf("there are %d of %s in the page, want %d as in any", n, what, harmless[what])
		}
	}
}

// cut returns the part of a name that a page shows: as much as covers no screen.
func cut(s string) string {
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}

// visible removes from a name what a table's cell may show otherwise: blanks, characters without
// a shape, and replacements, whose number for bytes that are no text differs.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\n', '\v', '\f', '\r', '\x00', '\ufffd', '\ufeff', '\u200b', '\u2028', '\u2029', '\u202e':
			return -1
		}
		return r
	}, s)
}

// TestG26FileNames: the names of traces are in the list that serve shows of a
// directory, and in the title of a page.
func TestG26FileNames(t *testing.T) {
	data, err := os.ReadFile(storeTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"<img src=x onerror=alert(1)>", "\"><script>alert(1)<", "' onclick='alert(1)", "&lt;b&gt;", "javascript:alert(1)"} {
		if err := os.WriteFile(filepath.Join(dir, name+".scope"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tb := open(t, serve(t, dir), browser.View{})
	tb.await("document.links.length >= 5")
	s := tb.text("body")
	for _, want := range []string{"<img src=x onerror=alert(1)>", "\"><script>alert(1)<", "&lt;b&gt;"} {
		if !strings.Contains(s, want) {
			t.Errorf("the list does not show %s: %q", want, s)
		}
	}
	var links int
	tb.read(&links, `Array.from(document.links).filter((a) => a.protocol === location.protocol).length`)
	if links < 5 {
		t.Errorf("the list has %d links, want one for each of 5 traces: %q", links, s)
	}
	page := show(t, fileURL(pageOf(t, filepath.Join(dir, "<img src=x onerror=alert(1)>.scope"))), browser.View{})
	if s := page.text("h1"); !strings.Contains(s, "<img src=x onerror=alert(1)>") {
		t.Errorf("the page's title is %q", s)
	}
}
