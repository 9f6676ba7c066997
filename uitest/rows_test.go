package uitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// rowNames are the rows' labels from top to bottom.
func (tb *tab) rowNames() (names []string) {
	tb.t.Helper()
	tb.settle()
	tb.read(&names, `Array.from(document.querySelectorAll("#rows .label")).sort((a, b) => a.offsetTop - b.offsetTop).map((l) => l.querySelector(".name").textContent.trim())`)
	return names
}

// TestRows collapses, pins, hides and filters rows, and turns to threads.
func TestRows(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	at := func(name string) int { return slices.Index(tb.rowNames(), name) }
	for i := range traces.Workers - 1 {
		a, b := at("worker "+string(rune('1'+i))), at("worker "+string(rune('2'+i)))
		if a < 0 || b < 0 {
			t.Fatalf("the workers' rows are not all there: %q", tb.rowNames())
		}
	}
	choose := func(name string) {
		t.Helper()
		var found bool
		tb.read(&found, `(() => { const n = Array.from(document.querySelectorAll("#rows .name")).find((n) => n.textContent.trim() === %s); n?.click(); return !!n; })()`, quote(name))
		if !found {
			t.Fatalf("there is no row %s: %q", name, tb.rowNames())
		}
		tb.settle()
	}
	last := tb.rowNames()[traces.Workers-1]
	choose(last)
	tb.press("KeyP")
	if i := at(last); i != 0 {
		t.Errorf("p moves %s to place %d, want the top: %q", last, i, tb.rowNames())
	}
	height := tb.number("document.querySelector('#rows .sheet').scrollHeight")
	tb.press("KeyX")
	tb.settle()
	bars := tb.number("scopeview.drawn.bars")
	tb.press("KeyX")
	tb.settle()
	if all := tb.number("scopeview.drawn.bars"); all <= bars {
		t.Errorf("%v bars are drawn of a collapsed row and the others, %v of all; the sheet has %v px", bars, all, height)
	}
	tb.press("KeyH")
	if i := at(last); i >= 0 {
		t.Errorf("h does not hide %s: %q", last, tb.rowNames())
	}
	if s := tb.text("#rows"); !strings.Contains(s, "hidden") {
		t.Errorf("nothing says that a row is hidden: %q", s)
	}
	tb.read(nil, `Array.from(document.querySelectorAll("#rows .label.hidden button"))[0].click()`)
	if i := at(last); i < 0 {
		t.Errorf("%s does not come back: %q", last, tb.rowNames())
	}
	tb.read(nil, `(() => { const f = document.getElementById("row-filter"); f.value = "WORKER 2"; f.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	if names := tb.rowNames(); !slices.Contains(names, "worker 2") || slices.Contains(names, "worker 3") {
		t.Errorf("filtered by WORKER 2 the rows are %q", names)
	}
	tb.read(nil, `(() => { const f = document.getElementById("row-filter"); f.value = ""; f.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	tb.press("KeyG")
	if names := tb.rowNames(); len(names) == 0 || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "thread ") }) {
		t.Errorf("g does not turn to threads: %q", names)
	}
}

// TestFlame: the Flame tab has the tree by name.
func TestFlame(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.press("Digit3")
	says(t, tb, "#panel", traces.Parent, traces.Holder, "parse", "lex")
}

// TestReduced: above --max the page keeps the long scopes, reports what is missing and the
// remedy, and its Summary still covers all scopes.
func TestReduced(t *testing.T) {
	trace := record(t, "many", 20_000)
	tb := showTrace(t, trace, browser.View{}, "--max", "2000")
	tb.press("Digit9")
	says(t, tb, "#view-about", "scopeview serve", "--from")
	tb.press("Digit2")
	v := tb.table("#panel")
	for _, s := range topOf(t, trace).Scopes {
		compareRow(t, v, s)
	}
	if n := tb.number("scopeview.drawn.bars"); n < 100 {
		t.Errorf("only %v bars are drawn", n)
	}
	usable(t, tb)
}
