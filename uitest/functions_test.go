package uitest

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// slowly is the trace of the program slow.
var slowly = sync.OnceValues(func() (string, error) {
	path := filepath.Join(dir, "slow.scope")
	return path, traces.Record(path, "slow", 300)
})

func slowTrace(t *testing.T) string {
	t.Helper()
	path, err := slowly()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFunctions: by keys alone one gets from the functions to the hot line, in a file and
// live.
func TestFunctions(t *testing.T) {
	for home, address := range map[string]func(t *testing.T, trace string) string{
		"file": func(t *testing.T, trace string) string { return fileURL(pageOf(t, trace)) },
		"live": serve,
	} {
		t.Run(home, func(t *testing.T) {
			tb := show(t, address(t, slowTrace(t)), browser.View{})
			tb.press("Digit4")
			tb.await(`document.querySelectorAll("#view-functions tbody tr").length > 3`)
			v := tb.table("#view-functions")
			if first := v.Rows[0][v.column(t, "function")]; first != traces.Spin {
				t.Errorf("the first function is %q, the hot one is %s", first, traces.Spin)
			}
			if share := v.Rows[0][v.column(t, "%")]; share == "" || share == "0%" {
				t.Errorf("its share is %q", share)
			}
			tb.read(nil, `document.querySelector("#view-functions tbody button").click()`)
			tb.await(`!document.getElementById("view-callers").hidden && document.querySelectorAll("#view-callers .box").length > 2`)
			says(t, tb, "#view-callers", traces.Spin, "Callers", "Callees", "traces.slow")
			tb.press("Digit6")
			tb.await(`document.querySelectorAll("#view-source tr.hot").length > 0`)
			if hot := tb.text("#view-source tr.hot"); !strings.Contains(hot, traces.SpinCode) && !strings.Contains(hot, "range 1_000_000") {
				t.Errorf("the hot line is %q", hot)
			}
			sayWhatTheCompilerDid(t, tb)
			tb.press("Digit3")
			tb.read(nil, `[...document.querySelectorAll("#view-flame button")].find((b) => b.textContent === "functions").click()`)
			tb.await(`document.querySelectorAll("#view-flame .box").length > 3`)
			says(t, tb, "#view-flame", "<Total>", traces.Spin)
		})
	}
}

// sayWhatTheCompilerDid gives the page a remark on a call of the hot function, as a file that is
// written with --commentary has it: it stands before the call's line, and in the callers' table.
func sayWhatTheCompilerDid(t *testing.T, tb *tab) {
	const said = "18% of the calls by default.pgo: inlined because of the profile, cost 312"
	tb.read(nil, `(() => {
		const s = scopeview.model.samples;
		const burn = s.funcs.findIndex((f) => f.endsWith("/" + %s));
		const frame = s.frameFunc.indexOf(burn);
		let from = 0;
		for (let i = 1; i < s.stackUp.length && !from; i++) if (s.frameFunc[s.stackFrame[i]] === burn && s.stackUp[i]) from = s.frameFunc[s.stackFrame[s.stackUp[i]]];
		s.calls.push({ from: s.funcs[from], to: s.funcs[burn], file: s.frameFile[frame], line: s.frameLine[frame], text: %s });
		scopeview.model.changed();
	})()`, quote(traces.Spin), quote(said))
	tb.await(`document.querySelectorAll("#view-source tr.said").length === 1`)
	if got := tb.text("#view-source tr.said"); !strings.HasSuffix(got, "// call of "+traces.Spin+", "+said) {
		t.Errorf("before the line stands %q", got)
	}
	tb.press("Digit5")
	tb.await(`document.querySelector("#view-callers table").textContent.includes(%s)`, quote(said))
	says(t, tb, "#view-callers", "compiler", said)
}

// TestSlowExecutions: one selection shows what the slow executions of a scope wait for, and
// where; the fast ones wait for something else.
func TestSlowExecutions(t *testing.T) {
	tb := showTrace(t, slowTrace(t), browser.View{})
	// From an execution it is one step to what all of its name spend their time on.
	tb.search(traces.Read)
	tb.press("Enter", "Tab")
	tb.read(nil, `[...document.querySelectorAll("#view-details button")].find((b) => b.textContent === "functions").click()`)
	tb.await(`location.hash.includes("in=read") && document.querySelectorAll("#view-functions tbody tr").length > 1`)
	choose := func(what, value string) {
		tb.read(nil, `(() => { const s = document.querySelector("#view-functions select[aria-label=" + %s + "]"); s.value = %s; s.dispatchEvent(new Event("change")); })()`, quote(`"`+what+`"`), quote(value))
		tb.settle()
	}
	choose("Executions of the scope", "compare")
	tb.await(`document.querySelector("#view-functions .said").textContent !== ""`)
	if said := tb.text("#view-functions .said"); !strings.Contains(said, "waits for a mutex") || !strings.Contains(said, traces.AwaitTurn) {
		t.Errorf("it says %q", said)
	}
	says(t, tb, "#view-functions .calls-bar", "slow: 3 of at least", "others: 297")
	choose("Executions of the scope", "others")
	tb.await(`document.querySelector("#view-functions .said").hidden`)
	choose("Metric", "lock")
	tb.settle()
	tb.await(`!document.querySelector("#view-functions").textContent.includes(%s)`, quote(traces.AwaitTurn))
	choose("Metric", "channel")
	tb.await(`document.querySelector("#view-functions").textContent.includes("traces.readOne")`)
	// The address brings it back.
	choose("Executions of the scope", "slow")
	tb.await(`location.hash.includes("runs=slow") && location.hash.includes("in=read") && location.hash.includes("metric=channel")`)
}

// TestNewsDisturbNobody: typed text, sorting and focus survive updates; and a zoom does not
// apply to another function.
func TestNewsDisturbNobody(t *testing.T) {
	tb := showTrace(t, slowTrace(t), browser.View{})
	news := func() {
		tb.read(nil, `scopeview.model.changed()`)
		tb.settle()
	}
	tb.press("Digit5")
	tb.await(`document.querySelectorAll("#view-callers tbody button").length > 1`)
	tb.read(nil, `(() => { const i = document.querySelector("#view-callers input"); i.focus(); i.value = "awaitT"; })()`)
	news()
	var typed string
	if tb.read(&typed, `document.querySelector("#view-callers input").value`); typed != "awaitT" {
		t.Errorf("what was typed became %q", typed)
	}
	tb.read(nil, `document.querySelector("#view-callers thead button").click()`)
	tb.read(nil, `document.querySelector("#view-callers tbody button").focus()`)
	news()
	var kept bool
	tb.read(&kept, `document.activeElement.matches("#view-callers tbody button") && document.querySelector("#view-callers thead th").hasAttribute("aria-sort")`)
	if !kept {
		t.Error("the focus or the order of the callers is gone")
	}
	tb.read(nil, `document.querySelectorAll("#view-callers .icicle[aria-label='Callers of the function'] .box")[2].click()`)
	tb.read(nil, `scopeview.showFunc("main.main", "callers")`)
	tb.await(`document.querySelector("#view-callers h2").textContent.startsWith("main.main")`)
	tb.await(`[...document.querySelectorAll("#view-callers .box.root .name")].every((b) => b.textContent === "main.main")`)
	tb.read(nil, `scopeview.chooseCalls({ kept: { choice: { from: 0, to: 1e8, rows: null, scope: null, executions: "all" }, label: "before" } })`)
	tb.press("Digit4")
	tb.await(`document.querySelectorAll("#view-functions table").length === 3`)
	tb.read(nil, `document.querySelector("#view-functions tbody button").focus()`)
	news()
	if tb.read(&kept, `document.activeElement.matches("#view-functions tbody button")`); !kept {
		t.Error("the focus in the comparison is gone")
	}
}

// TestSampleTicks: samples are ticks below the states, with their stacks.
func TestSampleTicks(t *testing.T) {
	tb := showTrace(t, slowTrace(t), browser.View{})
	if n := tb.number("scopeview.drawn.ticks"); n < 5 {
		t.Fatalf("%v ticks are drawn", n)
	}
	spin := tb.find("burn", "")
	at := tb.number(`(() => { const s = scopeview.model.samples; return s.at.find((t, i) => t > %v && t < %v && s.metrics[s.metric[i]].sampled) ?? -1; })()`, spin.Start, spin.Start+spin.Dur)
	if at < 0 {
		t.Fatal("the program had no sample where it had a CPU for long")
	}
	x := tb.xOf(at)
	b := tb.box(canvas)
	var y float64
	tb.read(&y, `(() => { for (let y = 0; y < %v; y++) if ((scopeview.rows.at(%v, y)?.sample ?? -1) >= 0) return y; return -1; })()`, b.Height, x-b.X)
	if y < 0 {
		t.Fatal("there is no tick at all")
	}
	tb.check(tb.Point(x, b.Y+y))
	tb.settle()
	if text := tb.popup(); !strings.HasPrefix(text, "a sample") || !strings.Contains(text, traces.Spin) || !strings.Contains(text, "slow.go") {
		t.Errorf("the sample says %q", text)
	}
}
