package uitest

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// question puts a question into the field and asks it by its key.
func (tb *tab) question(text string) {
	tb.t.Helper()
	tb.read(nil, `((field) => { field.value = %s; field.dispatchEvent(new Event("input")); field.focus(); })(document.querySelector("#view-query textarea")), 0`, quote(text))
	tb.check(tb.Press("Enter", browser.Ctrl))
	tb.await(`!document.querySelector("#view-query .pending")`)
}

// TestQueryLeadsToBars: a question in SQL is answered in the served page, a row of the answer leads to its bar, and the answer is
// drawn as a track.
func TestQueryLeadsToBars(t *testing.T) {
	browsers(t, func(t *testing.T) {
		trace := storeTrace(t)
		tb := show(t, serve(t, trace), browser.View{})
		tb.check(tb.Press("Digit2", browser.Shift))
		tb.await(`document.querySelector("#view-query").checkVisibility()`)
		faultless(t, tb, "a question")

		tb.question("SELECT name, goroutine, depth, start_ns, dur_ns FROM scopes ORDER BY dur_ns DESC LIMIT 3")
		tb.await(`document.querySelectorAll("#view-query tbody tr").length === 3`)
		says(t, tb, "#view-query", "3 rows.")
		faultless(t, tb, "an answer")
		v := tb.table("#view-query")
		name, start := v.column(t, "name"), v.column(t, "start_ns")
		tb.read(nil, `document.querySelector("#view-query tbody tr:nth-child(2) button").click(), 0`)
		tb.await(`scopeview.selection !== null`)
		if s := tb.selected(); s.Name != v.Rows[1][name] || int64(s.Start) != int64(tb.number("%s", v.Rows[1][start])) {
			t.Errorf("the second row, %q, leads to %+v", v.Rows[1], s)
		}
		if tb.number(`document.querySelector("#view-query").checkVisibility() ? 1 : 0`) != 1 {
			t.Error("a row of the answer hides the answer")
		}

		// The answer is never that to another question.
		tb.read(nil, `((field) => { field.value += " "; field.dispatchEvent(new Event("input")); })(document.querySelector("#view-query textarea")), 0`)
		if s := tb.seen("#view-query .query-answer table"); s != "" {
			t.Errorf("of another question the page shows %.60q", s)
		}

		tb.question("SELECT name, goroutine, start_ns, dur_ns FROM scopes WHERE name = 'parse' LIMIT 50")
		tb.read(nil, `Array.from(document.querySelectorAll("#view-query button")).find((b) => b.textContent === "Draw as track").click(), 0`)
		tb.await(`document.querySelector(".label.answer") && scopeview.drawn.answers > 0`)
		tb.await(`document.querySelector(".label.answer").textContent.includes("Answer 1")`)
		faultless(t, tb, "a track of an answer")
		tb.read(nil, `scopeview.select(null), 0`)
		var at struct{ X, Y float64 }
		tb.read(&at, `(() => {
			const { starts, ends } = scopeview.model.answers[0].lines[0];
			const box = document.querySelector("#rows canvas").getBoundingClientRect();
			scopeview.setView(starts[0] - (ends[0] - starts[0]), ends[0] + (ends[0] - starts[0]));
			const label = document.querySelector(".label.answer").getBoundingClientRect();
			return { x: box.left + box.width / 2, y: label.top + 8 };
		})()`)
		tb.settle()
		tb.check(tb.Click(at.X, at.Y))
		tb.await(`scopeview.selection !== null`)
		if s := tb.selected(); s.Name != "parse" {
			t.Errorf("a bar of the track leads to %+v", s)
		}

		tb.question("SELECT start_ns / 1000000 * 1000000 AS time_ns, count(*) AS begun FROM scopes GROUP BY 1")
		tb.read(nil, `Array.from(document.querySelectorAll("#view-query button")).find((b) => b.textContent === "Draw as track").click(), 0`)
		tb.await(`document.querySelectorAll(".label.series").length > 0`)
		tb.await(`document.querySelector(".label.series").textContent.includes("Answer 2: begun")`)
		for range 2 {
			tb.read(nil, `document.querySelector("[aria-label^='Remove Answer']").click(), 0`)
			tb.settle()
		}
		if n := tb.number("scopeview.model.answers.length"); n != 0 {
			t.Errorf("%v tracks are left", n)
		}

		tb.question("SELECT nonsense FROM scopes")
		says(t, tb, "#view-query", "no such column: nonsense; there is scopes(name, track,")
		tb.question("ATTACH 'x' AS x")
		says(t, tb, "#view-query", "a question only reads")
	})
}

// TestQueryInFile: a page in a file has no engine, and shows the command that answers the question.
func TestQueryInFile(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.check(tb.Press("Digit2", browser.Shift))
	tb.read(nil, `((field) => { field.value = "SELECT 'a'"; field.dispatchEvent(new Event("input")); })(document.querySelector("#view-query textarea")), 0`)
	says(t, tb, "#view-query", "scopeview sql ", `'SELECT '\''a'\'''`)
	faultless(t, tb, "a question in a file")
	var ask bool
	if tb.read(&ask, `Array.from(document.querySelectorAll("#view-query button")).some((b) => b.textContent === "Ask" && b.checkVisibility())`); ask {
		t.Error("a page in a file offers to ask")
	}
}

// TestQueryIsHostile: an answer of hostile names is text, in the table and on the track.
func TestQueryIsHostile(t *testing.T) {
	var harmless, now map[string]int
	tb := show(t, serve(t, record(t, "hostile", 0)), browser.View{})
	tb.check(tb.Press("Digit2", browser.Shift))
	tb.settle()
	tb.read(&harmless, elements)
	tb.question("SELECT name, track, args, start_ns, 1000 AS dur_ns, name AS \"<img src=x onerror=window.__pwned=1>\" FROM records")
	tb.read(nil, `document.querySelectorAll("#view-query .more:not([hidden])").forEach((b) => b.click()), Array.from(document.querySelectorAll("#view-query button")).find((b) => b.textContent === "Draw as track").click(), 0`)
	tb.await(`document.querySelector(".label.answer")`)
	tb.settle()
	tb.read(&now, elements)
	for what, n := range harmless {
		if now[what] != n {
			t.Errorf("%d elements %s, before the answer %d", now[what], what, n)
		}
	}
	if tb.number("window.__pwned ? 1 : 0") != 0 {
		t.Error("a name ran")
	}
	if s := tb.text("#view-query table"); !strings.Contains(s, "<script>") {
		t.Errorf("the answer does not show the names: %.200q", s)
	}
}
