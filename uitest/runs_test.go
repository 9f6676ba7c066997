package uitest

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// TestRangeSums: in a range only the part of a scope inside it counts, as the table's head
// states; a switch makes scopes count whole.
func TestRangeSums(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		tb.press("Digit2")
		s := tb.find(traces.Holder, "")
		tb.read(nil, "scopeview.setRange({from: %f, to: %f})", s.Start+20e6, s.Start+70e6)
		const insideRange = "cover the range only"
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
				if head == insideRange && of("total") > traces.Workers*50e6 {
					t.Errorf("%s: %s is more than the range", row[0], row[v.column(t, "total")])
				}
			}
			faultless(t, tb, "sums of a range")
		}
		check(50e6, insideRange)
		tb.read(nil, `Array.from(document.querySelectorAll(".summary button")).find((b) => b.textContent === "whole durations").click()`)
		check(s.Dur, "the whole duration of each scope that overlaps the range")
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

// href is the address.
func (tb *tab) href() (s string) {
	tb.t.Helper()
	tb.read(&s, "location.href")
	return s
}

// machineTime measures how many ms some fixed work takes now: 20 on a fast machine with nothing else to do.
const machineTime = `Array.from({ length: 5 }, () => {
	const begin = performance.now();
	let x = 1;
	for (let i = 0; i < 2e7; i++) x = Math.imul(x, 1664525) + 1013904223 | 0;
	window.worked = x;
	return performance.now() - begin;
}).sort((a, b) => a - b)[2]`

// TestNoLongTask: a view of very many scopes is computed in slices, between which the
// page draws and hears keys. What takes its processor away for a moment lengthens a task, too, but
// not three times the same one.
func TestNoLongTask(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.read(nil, `(window.tasks = [], new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" }), 0)`)
	tb.read(nil, "(setTimeout(() => { for (const begin = performance.now(); performance.now() - begin < 150;); }), 0)")
	tb.await("tasks.some((ms) => ms >= 100)") // the browser reports long tasks
	for _, view := range []struct{ key, done string }{
		{"Digit3", "document.querySelectorAll('.flame .box').length > 20 && !document.querySelector('.flames .pending')"},
		{"Digit2", "document.querySelectorAll('.summary tbody tr').length >= 21 && !document.querySelector('.summary .pending')"},
		{"KeyG", "scopeview.by === 'thread' && scopeview.drawn.bars > 0"},
	} {
		var found []string
		for try := 0; try < 3 && len(found) == try; try++ {
			tb.press("Digit9")
			if view.key == "KeyG" && try > 0 {
				tb.press("KeyG") // back
			}
			tb.read(nil, fillModel, 3_000_000)
			tb.view()
			slower := max(1, tb.number(machineTime)/20) // what the debugger has the page do counts as no task
			tb.read(nil, "tasks.length = 0")
			tb.press(view.key)
			tb.await("%s", view.done)
			tb.settle()
			slower = max(slower, tb.number(machineTime)/20)
			if longest := tb.number("Math.max(0, ...tasks)"); longest > 100*slower {
				found = append(found, fmt.Sprintf("%.0f ms on a machine that is %.1f times slower", longest, slower))
			}
		}
		if len(found) == 3 {
			t.Errorf("%s: tasks of %s", view.key, strings.Join(found, ", "))
		}
	}
}

// tenants is the trace that Tenants writes.
var tenants = sync.OnceValues(func() (string, error) {
	path := filepath.Join(dir, "tenants.scope")
	return path, traces.Tenants(path)
})

func tenantsTrace(t *testing.T) string {
	t.Helper()
	path, err := tenants()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// slowSaid returns the page's text about the slowest executions of Get.
var slowSaid = fmt.Sprintf("(%d of %d) of %s take 41.2 ms longer than the middle half (312); 99.6%% of it: waiting for %s; %d of %d have tenant=%d, of the middle half 0%%.",
	traces.SlowTenants, traces.Gets, traces.Get, traces.TenantLock, traces.SlowTenants, traces.SlowTenants, traces.SlowTenant)

// showGets presses the count of Get in the Summary: that is one action.
func showGets(tb *tab) {
	tb.t.Helper()
	tb.await("document.querySelectorAll('.summary tbody tr').length > 0")
	tb.read(nil, `Array.from(document.querySelectorAll(".summary tbody tr")).find((tr) => tr.cells[0].textContent === %s).cells[1].querySelector("button").click()`, quote(traces.Get))
	tb.await("document.querySelector('.runs .said').textContent.includes(%s)", quote(slowSaid))
}

// gets returns the executions in the table, from its pager and its rows.
func gets(tb *tab) (said string, rows [][]string) {
	tb.t.Helper()
	v := tb.table(".runs .paged")
	return tb.text(".runs .paged .quiet"), v.Rows
}

// TestExecutions: of a name of which some executions wait for a lock, by an argument, the
// page says so; those that are brushed in the histogram are in the table and lit.
func TestExecutions(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, tenantsTrace(t), browser.View{})
		showGets(tb)
		if said, rows := gets(tb); said != "1 – 100 of 600" || len(rows) != 100 || rows[0][1] != "41.9 ms" {
			t.Errorf("%s, %q", said, rows[0])
		}
		faultless(t, tb, "executions")

		// The upper mode, by a drag.
		b := tb.box(".runs .brushed")
		tb.check(tb.Drag(b.X+0.6*b.Width, b.Y+10, b.X+b.Width-2, b.Y+10))
		onlySlow := func(how string) {
			t.Helper()
			tb.await("document.querySelector('.runs .paged .quiet').textContent === '%d executions'", traces.SlowTenants)
			_, rows := gets(tb)
			for _, row := range rows {
				if row[1] != "41.9 ms" || row[4] != "41.0 ms" || row[7] != "tenant=7" {
					t.Errorf("%s: %q", how, row)
				}
			}
		}
		onlySlow("brushed")
		if lit := tb.number(`(() => { let n = 0; test.each((batch, i) => { if (scopeview.brush.has(batch, i, i + 1)) n += batch.dur[i] > 41e6 && test.name(batch, i) === "get" ? 1 : 1000; }); return n; })()`); lit != traces.SlowTenants {
			t.Errorf("%v are lit", lit)
		}
		if groups := tb.table(".runs .column"); len(groups.Rows) != 1 || groups.Rows[0][0] != "7" || groups.Rows[0][1] != "6" {
			t.Errorf("groups of what is brushed: %q", groups.Rows)
		}
		faultless(t, tb, "brushed")
		tb.await("location.hash.includes('name=get') && location.hash.includes('long=')")
		link := tb.href()

		// By the keyboard: the edges are sliders, and Escape lets go.
		tb.press("Escape")
		tb.await("document.querySelector('.runs .paged .quiet').textContent === '1 – 100 of 600'")
		tb.read(nil, `document.querySelector(".runs [role=slider]").focus()`)
		tb.check(tb.Hold("ArrowRight", 12))
		tb.settle()
		if v := tb.number(`Number(document.querySelector(".runs [role=slider]").ariaValueNow)`); v != 12 {
			t.Errorf("the edge is at %v", v)
		}
		onlySlow("by keys")
		tb.press("Home")
		tb.await("document.querySelector('.runs .paged .quiet').textContent === '1 – 100 of 600'")

		// A group, a page, an order, a row.
		tb.read(nil, `Array.from(document.querySelectorAll(".runs .column tbody button")).find((b) => b.textContent === "7").click()`)
		onlySlow("a group")
		tb.read(nil, `Array.from(document.querySelectorAll(".runs button")).find((b) => b.textContent === "tenant: 7 ×").click()`)
		tb.read(nil, `Array.from(document.querySelectorAll(".runs .paged thead button")).find((b) => b.textContent.startsWith("start")).click()`)
		tb.read(nil, `Array.from(document.querySelectorAll(".runs .paged button")).find((b) => b.textContent === "next ›").click()`)
		tb.await("document.querySelector('.runs .paged .quiet').textContent === '101 – 200 of 600'")
		tb.read(nil, `document.querySelector(".runs .paged tbody button").click()`)
		if s := tb.selected(); s == nil || s.Name != traces.Get || s.Start != (traces.Gets-101)*2e6+9000 || tb.text("#tab-runs[aria-selected=true]") != "Executions" {
			t.Errorf("%+v is selected", s)
		}

		// The link shows the same.
		again := show(t, link, browser.View{})
		again.await("document.querySelector('.runs .paged .quiet').textContent === '%d executions'", traces.SlowTenants)
	})
}

// TestExecutionsSaved: the CSV has all executions, not only those of the page. If short
// scopes are merged the page says so.
func TestExecutionsSaved(t *testing.T) {
	tb := showTrace(t, tenantsTrace(t), browser.View{})
	showGets(tb)
	into := t.TempDir()
	tb.check(tb.SaveDownloads(into))
	tb.read(nil, `Array.from(document.querySelectorAll(".runs button")).find((b) => b.textContent === "CSV").click()`)
	rows, err := csv.NewReader(strings.NewReader(waitForFile(t, into))).ReadAll()
	if err != nil || len(rows) != 1+traces.Gets {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if got := strings.Join(rows[1][1:], ";"); got != "41920000;2000;460000;;41000000;goroutine 23;23;serve;{\"tenant\":7}" {
		t.Errorf("the longest is %s", got)
	}
	tb.read(nil, "scopeview.model.reduced = true, scopeview.model.changed()")
	tb.await("document.querySelector('.runs [role=status]').textContent.includes('only those that this page stores individually')")
}

// TestExecutionsServed: for a trace merged in the page the server sends the executions.
func TestExecutionsServed(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := show(t, serve(t, tenantsTrace(t)), browser.View{})
		tb.read(nil, `(() => { // as if it had nothing but merged scopes
			const { model } = scopeview;
			model.reduced = true;
			for (const row of model.rows()) row.lanes = [];
			model.changed();
		})()`)
		tb.await("document.querySelectorAll('.summary tbody tr').length > 0")
		showGets(tb)
		if said, rows := gets(tb); said != "1 – 100 of 600" || rows[0][2] != "2.00 µs" {
			t.Errorf("%s, %q", said, rows[0])
		}
		// The doctor knows the roots of their time.
		tb.read(nil, `(() => {
			const { model } = scopeview;
			model.source.doctor = async () => ({ findings: [], notes: [], slow: [{ of: scopeview.runsOf, limit_ns: 2000, roots: [{ text: "worker 6 holds db.mu, sleeping, in db.compact", ns: 1500, share: 0.72 }] }] });
			model.doctor = null;
			model.changed();
		})()`)
		tb.await("document.querySelector('.differ > button')?.checkVisibility() === true")
		tb.read(nil, `document.querySelector(".differ > button").click()`)
		tb.await("[...document.querySelectorAll('.differ td, .differ th')].some((cell) => cell.textContent === 'worker 6 holds db.mu, sleeping, in db.compact')")
		if tb.text(".differ > button:not([hidden])") != "" {
			t.Error("the doctor can be asked again")
		}
	})
}
