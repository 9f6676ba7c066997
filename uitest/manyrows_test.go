package uitest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// handlers is the page of a trace with 500 alike rows, and what is known of them.
var handlers = sync.OnceValues(func() (string, error) {
	trace, html := filepath.Join(dir, "handlers.scope"), filepath.Join(dir, "handlers.html")
	if err := traces.Handlers(trace); err != nil {
		return "", err
	}
	_, err := cmd.Run("html", trace, "-o", html)
	return fileURL(html), err
})

func showHandlers(t *testing.T, fragment string) *tab {
	t.Helper()
	address, err := handlers()
	if err != nil {
		t.Fatal(err)
	}
	return show(t, address+fragment, browser.View{})
}

// filter types into the box that filters rows.
func (tb *tab) filter(text string) {
	tb.t.Helper()
	tb.read(nil, `(() => { const f = document.getElementById("row-filter"); f.focus(); f.value = %s; f.dispatchEvent(new Event("input", {bubbles: true})); })()`, quote(text))
	tb.settle()
}

// atY is the title of the row at a height of the picture, and whether it is there whole.
func (tb *tab) atY(y float64) (title string) {
	tb.t.Helper()
	tb.read(&title, `scopeview.rows.at(5, %v)?.strip.title ?? ""`, y)
	return title
}

// chooseRow makes a row the one that keys are for.
func (tb *tab) chooseRow(id string) {
	tb.t.Helper()
	tb.read(nil, `scopeview.chooseRow(%s); document.getElementById("rows").focus()`, quote(id))
	tb.settle()
}

// group is the id of the row of alike rows.
const group = `document.querySelector("#rows .label.group").dataset.id`

// TestAlikeRows: alike rows are one, which says exactly how many of them did something;
// rows are in the order of their names, below the lock that was waited for.
func TestAlikeRows(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showHandlers(t, "")
		want := []string{"Locks (1)", "mu", "500 × handler", "worker 3", "worker 7", "worker 8", "worker 10"}
		if got := tb.rowNames(); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("the rows are %q, want %q first", got, want)
		}
		if n := tb.number("scopeview.drawn.densities"); n != 1 {
			t.Errorf("%v groups are drawn, want 1", n)
		}
		at := float64(traces.HandlersAt)
		tb.read(nil, "scopeview.setView(%v, %v)", at-100_000, at+100_000)
		tb.await(`document.querySelector("#rows .spread").textContent === "%d – %d – %d active"`, traces.HandlersActive, traces.HandlersActive, traces.HandlersActive)
		tb.seek(at, "in a scope")
		for _, says := range []string{fmt.Sprintf("%d of %d", traces.HandlersActive, traces.Handling), fmt.Sprintf("waiting\n%d\n", traces.HandlersWaiting)} {
			if s := tb.popup(); !strings.Contains(s, says) {
				t.Errorf("the pop-up of the group says %q, want %q in it", s, says)
			}
		}
		tb.press("Digit0")
		tb.read(nil, `scopeview.chooseRow(%s)`, group)
		tb.press("KeyX")
		if s := tb.text("#live"); s != "500 × handler: its rows are shown" {
			t.Errorf("opening the group is announced as %q", s)
		}
		count := `Math.round(document.querySelector("#rows .sheet").offsetHeight / 38)`
		if n := tb.number("%s", count); n < 20 || n > 40 {
			t.Errorf("an open group shows so many rows: %v", n)
		}
		tb.read(nil, `document.getElementById("rows").scrollTop = 1e6`)
		tb.settle()
		tb.read(nil, `document.querySelector('[aria-label="Show all the others"]').click()`)
		tb.settle()
		if n := tb.number("%s", count); n < 500 {
			t.Errorf("an open group with all its rows shows so many: %v", n)
		}
		if n := tb.number(`document.querySelectorAll("#rows .label").length`); n > 60 {
			t.Errorf("%v rows have a label, though few are in sight", n)
		}
		faultless(t, tb, "alike rows")
	})
}

// TestPinnedRowsStay: what is pinned is in sight while the rest scrolls below it, and is
// found under the pointer; what takes more than half the height scrolls, and is said to.
func TestPinnedRowsStay(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showHandlers(t, "")
		tb.read(nil, `scopeview.toggleRow("opened", %s)`, group)
		tb.chooseRow("g1000")
		tb.press("KeyP")
		if s := tb.text("#live"); s != "worker 8: pinned to the top" {
			t.Errorf("pinning is announced as %q", s)
		}
		rows, band := tb.box("#rows"), tb.number(`scopeview.rows.stripOf("g1000").h`)
		scrolled := func(by float64) {
			t.Helper()
			tb.read(nil, `document.getElementById("rows").scrollTop = %v`, by)
			tb.settle()
			if label := tb.box(`#rows [data-id="g1000"]`); label.Y != rows.Y {
				t.Errorf("scrolled by %v the label of the pinned row is at %v, the rows at %v", by, label.Y, rows.Y)
			}
			if s := tb.atY(band - 4); s != "worker 8" {
				t.Errorf("scrolled by %v, the pointer on the pinned row finds %q", by, s)
			}
		}
		scrolled(0)
		if s := tb.atY(band + 4); s != "Locks (1)" {
			t.Errorf("below the pinned row is %q", s)
		}
		scrolled(300)
		if s := tb.atY(band + 4); s != "handler" {
			t.Errorf("scrolled, below the pinned row is %q", s)
		}
		// What is selected further up comes into sight, and not under the pinned row.
		tb.read(nil, `scopeview.select(scopeview.model.find(2, 0, 101e6 - 1000), {reveal: true})`)
		tb.settle()
		y := tb.number(`(() => { for (let y = 0; y < %v; y++) if (scopeview.rows.at(5, y)?.strip.id === "g2") return y; return -1; })()`, rows.Height)
		if y < band {
			t.Errorf("the row of what was selected is at %v, the pinned row takes %v", y, band)
		}
		for id := 1001; id < 1004; id++ {
			tb.read(nil, `scopeview.toggleRow("pinned", "g%d")`, id)
		}
		for id := 3; id < 20; id++ {
			tb.read(nil, `scopeview.toggleRow("pinned", "g%d")`, id)
		}
		if s := tb.text("#live"); !strings.Contains(s, "handler: pinned to the top; it scrolls with the others, because pinned rows take at most half the height") {
			t.Errorf("a pin that has no room is announced as %q", s)
		}
		tb.read(nil, `document.getElementById("rows").scrollTop = 2000`)
		tb.settle()
		if h := tb.box("#rows .pins").Height; h > tb.box("#rows").Height/2+1 {
			t.Errorf("pinned rows take %v of %v px", h, tb.box("#rows").Height)
		}
		faultless(t, tb, "pinned rows")
	})
}

// TestRowsAreAnnounced: each key for rows announces its result.
func TestRowsAreAnnounced(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showHandlers(t, "#locks=off")
		tb.chooseRow("g1002")
		for _, k := range []struct{ key, says string }{
			{"KeyX", "worker 3: collapsed"}, {"KeyX", "worker 3: expanded"}, {"KeyP", "worker 3: pinned to the top"}, {"KeyP", "worker 3: no longer pinned"},
			{"KeyH", "worker 3: hidden"}, {"KeyO", "one line for each row"}, {"KeyO", "all lines of the rows"}, {"Shift+KeyX", "all rows are collapsed"}, {"Shift+KeyX", "all rows are expanded"},
		} {
			key, shift := strings.CutPrefix(k.key, "Shift+")
			tb.check(tb.Press(key, map[bool][]browser.Modifier{true: {browser.Shift}}[shift]...))
			tb.settle()
			if s := tb.text("#live"); s != k.says {
				t.Errorf("%s is announced as %q, want %q", k.key, s, k.says)
			}
		}
		if n := tb.number(`scopeview.choices.opened.size`); n != 1 {
			t.Errorf("of all that is expanded %v groups are", n)
		}
		tb.press("KeyO")
		tb.read(nil, `document.getElementById("rows").scrollTop = 0`)
		tb.settle()
		line := tb.number(`scopeview.rows.stripOf(%s).h`, group)
		for k := 1; k < 4; k++ {
			for _, y := range []float64{float64(k)*line + 1, float64(k+1)*line - 1} {
				if s := tb.atY(y); s != "handler" {
					t.Errorf("in rows of one line of %v px, at %v is %q", line, y, s)
				}
			}
		}
		if line > 30 {
			t.Errorf("rows of one line are %v px high", line)
		}
		tb.await(`location.hash.includes("lines=one") && location.hash.includes("hidden=g1002")`)
	})
}

// TestNoRows: a page without rows shows the reason, and the remedy.
func TestNoRows(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, record(t, "empty", 0), browser.View{})
		says(t, tb, "#rows", "This trace has no scopes")
		faultless(t, tb, "an empty trace")
		tb = showHandlers(t, "")
		tb.filter("no such row")
		says(t, tb, "#rows", "No row matches “no such row”.", "Clear the filter")
		faultless(t, tb, "a filter without a match")
		tb.read(nil, `document.querySelector(".rows-note button").click()`)
		tb.settle()
		if got := tb.rowNames(); len(got) < 5 {
			t.Errorf("without the filter the rows are %q", got)
		}
		tb.await(`document.activeElement.id === "row-filter" && document.activeElement.value === ""`)
	})
}

// TestFilterAndOrder: rows are filtered by what they did, a mistake is explained, and
// they are sorted; a link keeps both.
func TestFilterAndOrder(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showHandlers(t, "")
		tb.filter("busy<150ms scopes>1 -name:10")
		if got, want := tb.rowNames(), []string{"worker 3", "worker 7", "worker 8"}; !slices.Equal(got, want) {
			t.Errorf("filtered, the rows are %q, want %q", got, want)
		}
		if s := tb.text("#row-filter-message"); s != "3 of 504 rows" {
			t.Errorf("the filter says %q", s)
		}
		faultless(t, tb, "a filter")
		head := tb.box("#top").Height
		tb.filter("wait>10parsec")
		if s := tb.text("#row-filter-message"); !strings.Contains(s, "unknown unit parsec") {
			t.Errorf("of a mistake in the filter is said %q", s)
		}
		if h := tb.box("#top").Height; h != head {
			t.Errorf("the page moves by %v when the filter has a mistake", h-head)
		}
		faultless(t, tb, "a filter with a mistake")
		tb.filter("worker")
		tb.read(nil, `(() => { const s = document.getElementById("row-sort"); s.value = "cpu"; s.dispatchEvent(new Event("change")); })()`)
		if got, want := tb.rowNames(), []string{"worker 10", "worker 3", "worker 7", "worker 8"}; !slices.Equal(got, want) {
			t.Errorf("by CPU time the rows are %q, want %q", got, want)
		}
		tb.await(`location.hash.includes("sort=cpu")`)
		tb = showHandlers(t, "#sort=start&rows=scopes%3C3")
		if got, want := tb.rowNames(), []string{"worker 8", "worker 7", "worker 3", "worker 10"}; len(got) < 4 || !slices.Equal(got[:4], want) {
			t.Errorf("by their start the rows are %q, want %q first", got, want)
		}
	})
}

// TestLongNames: no name takes a screen, wherever it is shown.
func TestLongNames(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, record(t, "hostile", 0), browser.View{})
		longest := func(where string) {
			t.Helper()
			tb.settle()
			var long []string
			tb.read(&long, `(() => {
				const long = [];
				for (const e of document.querySelectorAll("body :not(script, style)")) {
					if (e.closest(".arguments")) continue; // they are shown whole
					for (const c of e.childNodes) if (c.nodeType === 3 && c.data.length > 400) long.push(e.outerHTML.slice(0, 200));
					for (const a of ["title", "aria-label"]) if (e.getAttribute(a)?.length > 1200) long.push(a + " of " + e.outerHTML.slice(0, 200));
				}
				return long;
			})()`)
			for _, l := range long {
				t.Errorf("%s: too long is %s", where, l)
			}
		}
		var found bool
		tb.read(&found, `(() => {
			let ref = null;
			test.each((batch, i) => { if (test.name(batch, i).length > 900) ref ??= {batch, i}; });
			if (ref) scopeview.select(ref, {reveal: true});
			return ref !== null;
		})()`)
		if !found {
			t.Fatal("no scope has a long name")
		}
		longest("details")
		s := tb.selected()
		tb.seek(s.Start+s.Dur/2, "duration")
		longest("the pop-up")
		for _, key := range []string{"Digit2", "Digit3"} {
			tb.press(key)
			longest(key)
		}
		tb.check(tb.Press("KeyT", browser.Shift))
		longest("the text table")
	})
}
