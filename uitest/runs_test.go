package uitest

import (
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// TestRangeSums: in a range a scope counts with what lies in it, which the table's head
// says; a switch has it count whole.
func TestRangeSums(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		tb.press("Digit2")
		s := tb.find(traces.Holder, "")
		tb.read(nil, "scopeview.setRange({from: %f, to: %f})", s.Start+20e6, s.Start+70e6)
		check := func(total float64, head string) {
			t.Helper()
			tb.await("document.querySelector('.summary caption').textContent.includes(%s)", quote(head))
			v := tb.table("#panel")
			for _, row := range v.Rows {
				of := func(title string) float64 {
					ns, _ := nanoseconds(row[v.column(t, title)])
					return ns
				}
				if row[0] == traces.Holder && (math.Abs(of("total")-total) > 0.01*total || math.Abs(of("max")-s.Dur) > 0.01*s.Dur) {
					t.Errorf("%s: total %v, max %v; want %v, %v", head, of("total"), of("max"), total, s.Dur)
				}
				if strings.Contains(head, "lie in") && of("total") > traces.Workers*50e6 {
					t.Errorf("%s: %s is more than the range", row[0], row[v.column(t, "total")])
				}
			}
			faultless(t, tb, "sums of a range")
		}
		check(50e6, "what lies in the range")
		tb.read(nil, `Array.from(document.querySelectorAll(".summary button")).find((b) => b.textContent === "whole durations").click()`)
		check(s.Dur, "all of each scope that touches the range")
		tb.await("location.hash.includes('sums=whole')")
	})
}

// fillModel has the page look at n scopes on 8 rows, three deep.
const fillModel = `((n) => {
	const lanes = 24, each = Math.floor(n / lanes), columns = new Map();
	n = each * lanes;
	const column = (name, type, value) => columns.set(name, type.from({ length: n }, (_, k) => value(Math.floor(k / each) %% 3, k %% each)));
	column("start", Float64Array, (depth, k) => k * 1000 + depth * 10);
	column("dur", Float64Array, (depth, k) => 900 - depth * 100 - (k * 7919) %% 500);
	column("kind", Uint8Array, () => 1);
	column("name", Uint32Array, (depth, k) => 1 + depth + 3 * (k %% 7));
	for (const name of ["flags", "slack", "thread", "args"]) column(name, name === "flags" ? Uint8Array : name === "slack" ? Float64Array : Uint32Array, () => 0);
	const rows = Array.from({ length: 8 }, (_, r) => [r + 1, 0]);
	columns.set("laneRow", Uint32Array.from({ length: lanes }, (_, k) => Math.floor(k / 3)));
	columns.set("laneDepth", Uint32Array.from({ length: lanes }, (_, k) => k %% 3));
	columns.set("laneCount", new Uint32Array(lanes).fill(each));
	for (const name of ["seriesTime", "seriesValue"]) columns.set(name, new Float64Array(0));
	const names = ["", ...Array.from({ length: 21 }, (_, k) => "name " + k)];
	scopeview.model.replace({ header: { meta: { names, end: each * 1000, writer: "closed" }, tile: { res: 0, strings: [""], rows } }, columns });
})(%d)`

// TestNoLongTask: a view of very many scopes is computed in slices, between which the
// page draws and hears keys.
func TestNoLongTask(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.press("Digit9")
	tb.read(nil, fillModel, 3_000_000)
	tb.view()
	tb.read(nil, `(window.tasks = [], new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" }), 0)`)
	tb.read(nil, "(setTimeout(() => { for (const begin = performance.now(); performance.now() - begin < 150;); }), 0)")
	tb.await("tasks.some((ms) => ms >= 100)") // it is told of what is too long
	for _, view := range []struct{ key, done string }{
		{"Digit3", "document.querySelectorAll('.flame .box').length > 20 && document.querySelector('.flames').ariaBusy === 'false'"},
		{"Digit2", "document.querySelectorAll('.summary tbody tr').length >= 21 && document.querySelector('.summary').ariaBusy === 'false'"},
	} {
		tb.read(nil, "tasks.length = 0")
		tb.press(view.key)
		tb.await("%s", view.done)
		tb.settle()
		if longest := tb.number("Math.max(0, ...tasks)"); longest > 100 {
			t.Errorf("%s: a task of %.0f ms", view.key, longest)
		}
	}
}
