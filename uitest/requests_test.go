package uitest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// requestsTrace is a merged trace of two processes with requests over both.
func requestsTrace(t *testing.T) string {
	t.Helper()
	path := pathOf(t, "requests.scope")
	if err := traces.Requests(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// flows waits until so many arrows of requests are drawn.
func (tb *tab) flows(want int) {
	tb.t.Helper()
	if err := tb.Wait(fmt.Sprintf("scopeview.drawn.flows === %d", want), patient); err != nil {
		tb.t.Errorf("%v arrows of requests are drawn, want %d", tb.number("scopeview.drawn.flows"), want)
	}
}

func (tb *tab) shift(code string) {
	tb.t.Helper()
	tb.check(tb.Press(code, browser.Shift))
	tb.settle()
}

// lookAtRequest goes through all that can be done with a request.
func lookAtRequest(t *testing.T, tb *tab) {
	t.Helper()
	tb.flows(0)
	tb.read(nil, `(() => { const s = test.find("pay", ""); scopeview.select(scopeview.model.find(s.key, s.depth, s.start)); })()`)
	tb.flows(traces.RequestFlows)
	says(t, tb, "#panel", "is part of goroutine 1, GET /buy", "contains goroutine 1, query")
	tb.shift("KeyR")
	tb.await(`scopeview.request === %s && !document.getElementById("view-request").hidden`, quote(traces.RequestID))
	tree := tb.table("#view-request")
	var names []string
	for _, row := range tree.Rows {
		names = append(names, row[0])
	}
	want := []string{"level 1: GET /buy", "level 2: pay", "level 3: query", "level 2: render", "level 1: missing: 0000000000000099", "level 2: orphan"}
	if !slices.Equal(names, want) {
		t.Errorf("the tree is %q, want %q", names, want)
	}
	if got, want := strings.Join(tree.Rows[2], "|"), "level 3: query|db 12|goroutine 1|+20.0 ms|10.0 ms|20.0 ms|20.0 ms"; got != want {
		t.Errorf("its third line is %q, want %q", got, want)
	}
	if want := fmt.Sprintf("%s: %d parts on 4 rows, 1 parent missing", traces.RequestID, traces.RequestParts); tree.Caption != want {
		t.Errorf("the caption is %q, want %q", tree.Caption, want)
	}
	if v := tb.view(); v.To > 100e6 || v.From > 10e6 {
		t.Errorf("it is not zoomed to: %v", v)
	}
	// What is not of it is dimmed.
	var lit []bool
	tb.read(&lit, `["pay", "other"].map((name) => { let has; test.each((b, i) => { if (test.name(b, i) === name) has = scopeview.lit.has(b, i); }); return has; })`)
	if !slices.Equal(lit, []bool{true, false}) {
		t.Errorf("of the request and another scope are lit: %v", lit)
	}
	// By keys alone: down in the tree, and there.
	tb.read(nil, `document.querySelector("#view-request tbody button").focus()`)
	tb.press("ArrowDown", "ArrowDown", "Enter")
	if s := tb.selected(); s == nil || s.Name != "query" {
		t.Errorf("the third line leads to %+v", s)
	}
	tb.await(`!document.getElementById("view-request").hidden`)
	all := len(tb.rowNames())
	tb.shift("KeyO")
	if rows := tb.rowNames(); slices.Contains(rows, "goroutine 3") || slices.Contains(rows, "goroutine 4") || len(rows) >= all {
		t.Errorf("rows without the request are not folded away: %q", rows)
	}
	tb.await(`new URLSearchParams(location.hash.slice(1)).get("only") === "request"`)
	tb.shift("KeyO")
	tb.press("Escape", "Escape")
	tb.await(`scopeview.request === "" && scopeview.selection === null`)
	tb.press("Digit0")
	tb.flows(0)
	tb.shift("KeyL")
	tb.flows(traces.Flows)
	tb.await(`new URLSearchParams(location.hash.slice(1)).get("flows") === "on"`)
	tb.shift("KeyL")
	// The begin of a trace id finds it, too.
	tb.search(traces.RequestID[:8])
	tb.await(`[...document.querySelectorAll("#search button")].some((b) => b.textContent === "request" && !b.hidden)`)
	tb.search(traces.RequestID)
	tb.hits(traces.RequestParts)
	tb.await(`[...document.querySelectorAll("#search button")].some((b) => b.textContent === "request" && !b.hidden)`)
	tb.read(nil, `[...document.querySelectorAll("#search button")].find((b) => b.textContent === "request").click()`)
	tb.await(`scopeview.request === %s`, quote(traces.RequestID))
}

// checkProcesses: rows are below their processes, which fold.
func checkProcesses(t *testing.T, tb *tab) {
	t.Helper()
	rows := func() string { return strings.Join(tb.rowNames(), "|") }
	want := "api 11 h1|goroutine 4|goroutine 1|goroutine 2|goroutine 3|db 12 h2 · clock ±12.0 µs|goroutine 1|goroutine 2|db 12 CPUs"
	if got := rows(); got != want {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	tb.read(nil, `document.querySelector('button[aria-label="Fold the rows of the process db 12"]').click()`)
	tb.settle()
	if got := rows(); strings.Count(got, "goroutine") != 4 {
		t.Errorf("a process is not folded: %q", got)
	}
	tb.read(nil, `scopeview.rows.reveal(2 * 2 ** 30 + 1, 0)`)
	tb.settle()
	if got := rows(); got != want {
		t.Errorf("what is revealed is in a process that stays folded: %q", got)
	}
}

func TestRequests(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, requestsTrace(t), browser.View{Dark: true})
		checkProcesses(t, tb)
		lookAtRequest(t, tb)
	})
}

// TestRequestsServed: a server has the same, and a page without links has none of it.
func TestRequestsServed(t *testing.T) {
	tb := show(t, serve(t, requestsTrace(t)), browser.View{})
	checkProcesses(t, tb)
	lookAtRequest(t, tb)
	tb = showTrace(t, storeTrace(t), browser.View{})
	var there int
	tb.read(&there, `[...document.querySelectorAll("#tab-request, #view-request")].filter((e) => e.checkVisibility()).length + document.querySelectorAll(".label.process").length`)
	if there > 0 {
		t.Errorf("a page without links shows %d things of requests", there)
	}
	tb.shift("KeyR")
	tb.await(`document.getElementById("view-request").hidden`)
}
