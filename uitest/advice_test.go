package uitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/uitest/browser"
)

// What a program has counted: a slice that grows much, one that grows little with a type that would be
// markup, and a map that is only used.
func counted() []row.Row {
	look := row.Row{Kind: row.Map, Type: "map[int]int", Stack: []string{"main.look /p/look.go:9", "main.main /p/main.go:28"}}
	look.V[row.Made], look.V[row.Gets] = 1, 900_000
	return []row.Row{
		tracetest.Grown("int", 40, 800_000, "example.com/p/store.fill /p/store/fill.go:10", "main.main /p/main.go:26"),
		tracetest.Grown("<b>T</b>", 10, 75_000, "main.few /p/few.go:3", "main.main /p/main.go:27"),
		look,
	}
}

// advised is a trace with scopes of two of these functions, and its raw file.
func advised(t *testing.T, rows ...row.Row) (trace string) {
	t.Helper()
	trace = pathOf(t, "p.scope")
	tracetest.Write(t, trace, `header chunk=65536 clock=monotonic start=1000 mono=1000
state closed=1 tick=100001000
chunk blocks
name 2 "main.main"
name 3 "store.fill"
stop ticks=100001000
chunk records
task "main.main" g=1 start=1500 stop=90000000 cpu=0/unknown
task "store.fill" g=1 start=2000 stop=9000000 cpu=0/unknown
task "store.fill" g=1 start=10000000 stop=70000000 cpu=0/unknown
`)
	if rows != nil {
		tracetest.WriteRaw(t, trace, rows...)
	}
	return trace
}

// TestAdvice: by keys alone one gets from a piece of advice to what was seen, and to the scopes of its
// function, in a file and live, in the light and in the dark.
func TestAdvice(t *testing.T) {
	trace := advised(t, counted()...)
	for home, address := range map[string]func(t *testing.T, trace string) string{
		"file": func(t *testing.T, trace string) string { return fileURL(pageOf(t, trace)) },
		"live": serve,
	} {
		t.Run(home, func(t *testing.T) {
			tb := show(t, address(t, trace), browser.View{Dark: home == "live"})
			tb.press("Digit8")
			tb.await(`document.querySelectorAll("#view-advice tbody tr").length === 3`)
			v := tb.table("#view-advice")
			site, what := v.column(t, "place"), v.column(t, "advice")
			if v.Rows[0][site] != "store.fill, fill.go:10" || v.Rows[0][v.column(t, "memory")] != "256 MB" || !strings.Contains(v.Rows[1][what], "[]<b>T</b>") {
				t.Errorf("the advice is %q", v.Rows)
			}
			says(t, tb, "#view-advice", "2 pieces of advice", "example.com/p, go1.26.8", "main.look, look.go:9", "900,000 look-ups")
			// A row opens and shuts, and the focus stays on it.
			const open = `document.querySelector("#view-advice tr.inside")`
			tb.read(nil, `document.querySelector("#view-advice tbody button").focus()`)
			tb.press("Enter")
			tb.await(open + ` !== null`)
			says(t, tb, "#view-advice tr.inside", "slice-too-small", "VECTOR_TOO_SMALL", "40 slices", "/p/main.go:26")
			var expanded string
			if tb.read(&expanded, `document.activeElement.getAttribute("aria-expanded")`); expanded != "true" {
				t.Errorf("what has the focus says that it is open: %q", expanded)
			}
			if source, err := os.ReadFile(axe); err == nil {
				tb.read(nil, "%s", string(source)+";0")
				faultless(t, tb, "advice that is open")
			}
			// A click on the head of a column sorts, and the row stays open.
			tb.read(nil, `[...document.querySelectorAll("#view-advice thead button")].find((b) => b.textContent.startsWith("place")).click()`)
			tb.await(`document.querySelector("#view-advice tbody button").textContent.startsWith("main.few")`)
			tb.await(open + ` !== null`)
			// A filter leaves what has its words, in both tables.
			filter := func(text string) {
				tb.read(nil, `(() => { const i = document.querySelector("#view-advice input"); i.value = %s; i.dispatchEvent(new Event("input")); })()`, quote(text))
				tb.settle()
			}
			filter("few slice")
			tb.await(`document.querySelectorAll("#view-advice tbody button").length === 1`)
			says(t, tb, "#view-advice", "1 of 2 pieces")
			filter("")
			// The function leads to the longest of its scopes.
			tb.read(nil, `[...document.querySelectorAll("#view-advice tr.inside button")].find((b) => b.textContent === "example.com/p/store.fill").focus()`)
			tb.press("Enter")
			if s := tb.selected(); s == nil || s.Name != "store.fill" || s.Dur != 60e6 {
				t.Errorf("the function leads to %+v", s)
			}
			tb.press("Digit8")
			tb.read(nil, `document.querySelector("#view-advice tr.inside button").focus()`)
			tb.read(nil, `document.querySelector("#view-advice tbody button[aria-expanded=true]").click()`)
			tb.await(open + ` === null`)
			if b := tb.number(`document.querySelectorAll("#panel b").length`); b != 0 {
				t.Error("a type's name became markup")
			}
		})
	}
}

// TestAdviceLater: a server reads the raw file again; a page of a trace without one explains
// how to get it.
func TestAdviceLater(t *testing.T) {
	trace := advised(t)
	tb := show(t, serve(t, trace), browser.View{})
	tb.press("Digit8")
	tb.await(`document.querySelector("#view-advice").innerText.includes("scopeview run --advise")`)
	again := func() {
		tb.read(nil, `[...document.querySelectorAll("#view-advice button")].find((b) => b.textContent === "read again").click()`)
	}
	tracetest.WriteRaw(t, trace, counted()[:1]...)
	again()
	tb.await(`document.querySelectorAll("#view-advice tbody button").length === 1`)
	if err := os.WriteFile(strings.TrimSuffix(trace, ".scope")+".raw", []byte("no raw file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again()
	tb.await(`document.querySelector("#view-advice").innerText.includes("does not begin a raw file")`)
	// A page of what lies elsewhere has no advice.
	away := filepath.Join(t.TempDir(), "p.scope")
	b, err := os.ReadFile(trace)
	if err == nil {
		err = os.WriteFile(away, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	tb = showTrace(t, away, browser.View{})
	tb.press("Digit8")
	says(t, tb, "#view-advice", "No advice", "scopeview run --advise")
}

// TestAdviceGrows: while the program runs, what it writes comes by itself, and what is open stays open.
func TestAdviceGrows(t *testing.T) {
	trace, _, _ := startTicks(t, 100_000)
	tracetest.WriteRaw(t, trace, counted()[:1]...)
	tb := show(t, serve(t, trace), browser.View{})
	tb.await("scopeview.growing")
	tb.press("Digit8")
	tb.await(`document.querySelectorAll("#view-advice tbody button").length === 1`)
	tb.read(nil, `document.querySelector("#view-advice tbody button").click()`)
	tracetest.WriteRaw(t, trace, counted()[:2]...)
	tb.await(`document.querySelectorAll("#view-advice tbody button[aria-expanded]").length === 2`)
	tb.await(`document.querySelectorAll("#view-advice tr.inside").length === 1`)
}
