package uitest

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// ground is the trace of the program grind, with its Go execution trace.
var ground = sync.OnceValues(func() (string, error) {
	path := filepath.Join(dir, "grind.scope")
	return path, traces.Record(path, "grind", 25)
})

func groundTrace(t *testing.T) string {
	t.Helper()
	path, err := ground()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// countHere returns, from the strips of states alone, the number of running goroutines at a
// time, and their total running time.
const countHere = `
window.procs = {
	runs(set, i) {
		const name = set.nameOf(set.state[i]);
		return ["cpu", "running", "preempted", "stalled", "textfault", "datafault"].includes(name) && set.stack[i] === 0 || name === "gc" && set.thread[i] > 0;
	},
	sum() {
		const set = scopeview.model.waits.states;
		let sum = 0;
		for (const lane of set.lanes.values()) for (let i = lane.from; i < lane.to; i++) if (procs.runs(set, i)) sum += set.dur[i];
		return sum;
	},
	at(t) {
		const set = scopeview.model.waits.states, n = { running: 0, runnable: 0, blocked: 0 };
		for (const lane of set.lanes.values()) for (let i = lane.from; i < lane.to; i++) {
			if (t < set.start[i] || t >= set.start[i] + set.dur[i]) continue;
			const name = set.nameOf(set.state[i]);
			if (procs.runs(set, i)) n.running++;
			else if (!lane.system && name !== "unknown") n[name === "runnable" ? name : "blocked"]++;
		}
		return n;
	},
	// busy returns the time in which processors had goroutines that computed, and the longest in which one goroutine had two.
	busy() {
		const set = scopeview.model.waits.tracks, all = scopeview.model.waits.states, had = [], computes = new Set();
		for (const lane of all.lanes.values()) for (let i = lane.from; i < lane.to; i++) if (procs.runs(all, i)) computes.add(lane.key + " " + all.start[i]);
		let sum = 0, twice = 0, tracks = 0;
		for (const lane of set.lanes.values()) {
			if (lane.key & 1) continue;
			tracks++;
			for (let i = lane.from; i < lane.to; i++) {
				if (!computes.has(set.by[i] + " " + set.start[i])) continue;
				sum += set.dur[i];
				had.push([set.by[i], set.start[i], set.start[i] + set.dur[i]]);
			}
		}
		had.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
		for (let k = 1; k < had.length; k++) if (had[k][0] === had[k - 1][0]) twice = Math.max(twice, had[k - 1][2] - had[k][1]);
		return { sum, twice, tracks };
	},
};
0`

// checkProcs: the rows of processors show what the goroutines did, all of it and nothing else.
func checkProcs(t *testing.T, tb *tab) {
	t.Helper()
	tb.read(nil, countHere)
	tb.await("scopeview.model.waits.any && scopeview.drawn.held > 4")
	var busy struct{ Sum, Twice, Tracks float64 }
	tb.read(&busy, "procs.busy()")
	if ran := tb.number("procs.sum()"); math.Abs(busy.Sum-ran) > 0.01*ran || ran < 1e7 {
		t.Errorf("processors had goroutines for %v ns, which ran for %v", busy.Sum, ran)
	}
	if busy.Tracks != traces.GrindProcs || busy.Twice > 0 {
		t.Errorf("%v processors are shown, want %d; a goroutine had two for %v ns", busy.Tracks, traces.GrindProcs, busy.Twice)
	}
	if n := tb.number("Math.max(...scopeview.model.waits.counts.map((c) => c.between(-Infinity, Infinity).most[0]))"); n > traces.GrindProcs || n < 1 {
		t.Errorf("%v goroutines run at once on %d processors", n, traces.GrindProcs)
	}
	rows := tb.rowNames()
	if want := []string{"Processors (2)", "CPU 0", "CPU 1"}; !slices.Equal(rows[:min(3, len(rows))], want) {
		t.Errorf("the rows begin with %q, want %q", rows, want)
	}
}

// checkCounted: the legend has the number of running goroutines at the pointer, or of the
// view without a pointer.
func checkCounted(t *testing.T, tb *tab) {
	t.Helper()
	job := tb.find(traces.Grind, "")
	tb.read(nil, "(scopeview.setView(%v, %v), 0)", job.Start, job.Start+4*job.Dur)
	tb.view()
	b := tb.box("#heart .goroutines canvas")
	var ran []int
	for _, share := range []float64{0.1, 0.35, 0.8} {
		tb.check(tb.Point(b.X+share*b.Width, b.Y+b.Height/2))
		tb.settle()
		var n map[string]int
		tb.read(&n, "procs.at(scopeview.cursor)")
		want := fmt.Sprintf("running %d, runnable %d\nblocked %d", n["running"], n["runnable"], n["blocked"])
		if got := tb.legend(".goroutines"); got != want {
			t.Errorf("at %v of the width the legend says %q, want %q", share, got, want)
		}
		ran = append(ran, n["running"])
		if n["blocked"] < traces.Crowd || n["blocked"] > traces.Crowd+30 {
			t.Errorf("%d goroutines wait, want the %d of the crowd and a few others", n["blocked"], traces.Crowd)
		}
	}
	tb.check(tb.Point(5, 5))
	tb.settle()
	got := tb.legend(".goroutines")
	m := regexp.MustCompile(`^running (?:(\d)–)?(\d), runnable \d+(?:–\d+)?\nblocked 3\d\d(?:–3\d\d)?$`).FindStringSubmatch(got)
	if m == nil {
		t.Fatalf("of what is in sight the legend says %q", got)
	}
	most, _ := strconv.Atoi(m[2])
	least, _ := strconv.Atoi(cmp.Or(m[1], m[2]))
	if least > slices.Min(ran) || most < slices.Max(ran) || most > traces.GrindProcs {
		t.Errorf("of what is in sight, where %v run, the legend says %q", ran, got)
	}
}

// legend returns the whole text of a graph's legend.
func (tb *tab) legend(graph string) (s string) {
	tb.t.Helper()
	tb.read(&s, "document.querySelector(%s).title", quote("#heart "+graph+" .legend"))
	return s
}

// checkHeld: a stretch on a processor has the goroutine, its scope and the reason of its
// end, and leads to the goroutine.
func checkHeld(t *testing.T, tb *tab) {
	t.Helper()
	var held struct{ From, To, By, Proc float64 }
	tb.read(&held, `(() => {
		const set = scopeview.model.waits.tracks, grinds = [];
		test.each((b, i, row) => { if (test.name(b, i) === %s) grinds.push([row.key, b.start[i], b.start[i] + b.dur[i]]); });
		let best = { From: 0, To: 0 };
		for (const lane of set.lanes.values()) for (let i = lane.from; i < lane.to && !(lane.key & 1); i++) {
			const name = set.nameOf(set.state[i]);
			if (name !== "cpu" && name !== "running") continue;
			for (const [key, a, b] of grinds) {
				const from = Math.max(a, set.start[i]), to = Math.min(b, set.start[i] + set.dur[i]);
				if (key === set.by[i] && to - from > best.To - best.From) best = { From: from, To: to, By: key, Proc: lane.key / 2 };
			}
		}
		return best;
	})()`, quote(traces.Grind))
	tb.read(nil, "(scopeview.setView(%v, %v), 0)", held.From-(held.To-held.From)/4, held.To+(held.To-held.From)/4)
	tb.view()
	row := fmt.Sprintf("CPU %v", held.Proc)
	var labels []struct{ Label, Row string }
	tb.read(&labels, "scopeview.drawn.labels")
	var who string
	for _, l := range labels {
		if l.Row == row && strings.HasSuffix(l.Label, ": "+traces.Grind) {
			who = strings.TrimSuffix(l.Label, ": "+traces.Grind)
		}
	}
	if !strings.HasPrefix(who, "grinder ") {
		t.Fatalf("%s is not labelled with its goroutine: %q", row, labels)
	}
	x, y := tb.seek((held.From+held.To)/2, row)
	for _, says := range []string{who, traces.Grind, "since", "then", fmt.Sprint(held.By)} {
		if s := tb.popup(); !strings.Contains(s, says) {
			t.Errorf("the pop-up of %s does not say %q: %q", row, says, s)
		}
	}
	tb.check(tb.Click(x, y))
	tb.settle()
	if key := tb.number("scopeview.stateSelection?.key ?? 0"); key != held.By {
		t.Errorf("a click selects what goroutine %v did, want %v", key, held.By)
	}
	tb.press("Escape", "Digit2", "Digit0")
}

func TestProcs(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, groundTrace(t), browser.View{})
		checkProcs(t, tb)
		checkCounted(t, tb)
		checkHeld(t, tb)
		// A key hides the rows, and the address remembers.
		tb.press("KeyU")
		if rows := tb.rowNames(); slices.Contains(rows, "CPU 0") {
			t.Errorf("u does not hide the processors: %q", rows)
		}
		tb.await(`new URLSearchParams(location.hash.slice(1)).get("procs") === "off"`)
		tb.press("KeyU")
		tb.await(`!location.hash.includes("procs")`)
		// Merged stretches are marked.
		all := tb.number("scopeview.model.waits.states.state.length")
		tb = showTrace(t, groundTrace(t), browser.View{}, "--max", fmt.Sprint(int(all/2)))
		if n := tb.number("scopeview.model.waits.states.res"); n < 2 {
			t.Fatalf("the states are merged at %v", n)
		}
		if n := tb.number("scopeview.drawn.held"); n < 10 {
			t.Errorf("%v stretches are drawn on processors", n)
		}
		if got := tb.legend(".goroutines"); !strings.Contains(got, "means of") {
			t.Errorf("of averages the legend says %q", got)
		}
		tb.read(nil, countHere)
		if n := tb.number("Math.max(...scopeview.model.waits.counts.map((c) => c.between(-Infinity, Infinity).most[0]))"); n > traces.GrindProcs+1e-9 || n < 1 {
			t.Errorf("%v goroutines run at once, on an average, on %d processors", n, traces.GrindProcs)
		}
	})
}

// TestProcsServed: a page that is served has the same.
func TestProcsServed(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := show(t, serve(t, groundTrace(t)), browser.View{Dark: true})
		checkProcs(t, tb)
		checkCounted(t, tb)
	})
}

// TestThreads: a thread shows what ran on it, one after the other; without a Go execution
// trace it shows the scopes that began on it, with a note.
func TestThreads(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, groundTrace(t), browser.View{})
		tb.press("KeyG")
		tb.await("scopeview.model.waits.tracks")
		tb.settle()
		var threads []struct {
			Title string
			Track float64
			Lines int
		}
		tb.read(&threads, `(() => {
			const set = scopeview.model.waits.tracks;
			return [...document.querySelectorAll("#rows .label.row .name")].map((e) => e.textContent)
				.map((title) => ({ title, track: 2 * Number(title.split(" ")[1]) + 1 })).map((r) => ({ ...r, lines: set.lanes.has(r.track) ? 1 : 0 }));
		})()`)
		shown := 0
		for _, r := range threads {
			shown += r.Lines
		}
		if shown == 0 || shown != len(threads) {
			t.Fatalf("of %d threads %d have what ran on them: %+v", len(threads), shown, threads)
		}
		// No stretch of a thread's lies over another.
		if n := tb.number(`(() => {
			const set = scopeview.model.waits.tracks;
			let over = 0;
			for (const lane of set.lanes.values()) for (let i = lane.from + 1; i < lane.to; i++) if (set.start[i] < set.start[i - 1] + set.dur[i - 1]) over++;
			return over;
		})()`); n > 0 {
			t.Errorf("%v stretches lie over others", n)
		}
		job := tb.find(traces.Grind, "")
		tb.read(nil, "(scopeview.setView(%v, %v), 0)", job.Start, job.Start+job.Dur)
		tb.view()
		var labels []struct{ Label, Row string }
		tb.read(&labels, "scopeview.drawn.labels")
		is := func(l struct{ Label, Row string }) bool {
			return strings.HasPrefix(l.Row, "thread ") && strings.HasPrefix(l.Label, "grinder ") && strings.HasSuffix(l.Label, ": "+traces.Grind)
		}
		if !slices.ContainsFunc(labels, is) {
			t.Errorf("no thread says whose scope ran on it: %q", labels)
		}

		const note = "Each scope is on the thread on which it began"
		if rows := tb.rowNames(); slices.Contains(rows, note) {
			t.Errorf("of what ran on threads it says %q", note)
		}
		tb = showTrace(t, storeTrace(t), browser.View{})
		tb.press("KeyG")
		if rows := tb.rowNames(); !slices.Contains(rows, note) {
			t.Errorf("nothing says what the rows of threads have: %q", rows)
		}
	})
}

// TestGraphs: the rows begin high up, the graphs fold, and their legends name nothing that
// is out of sight.
func TestGraphs(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{Width: 1280, Height: 800})
		if y, first := tb.box("#rows").Y, tb.box("#first").Height; y-first > 134 {
			t.Errorf("the first row begins at %v px, of which the first line has %v", y, first)
		}
		source, err := os.ReadFile(axe)
		if err == nil {
			tb.read(nil, "%s", string(source)+";0")
		}
		high := tb.box("#heart").Height
		for _, graphs := range []string{"all", "line", "usual"} {
			tb.check(tb.Press("KeyQ", browser.Shift))
			tb.settle()
			if err == nil {
				faultless(t, tb, "graphs: "+graphs)
			}
			want := map[string]float64{"all": high + 29, "line": 21, "usual": high}[graphs]
			if h := tb.box("#heart").Height; math.Abs(h-want) > 2 {
				t.Errorf("%s graphs are %v px high, want %v", graphs, h, want)
			}
			says(t, tb, "#heart", "CPU", "memory", "goroutines")
			if graphs != "usual" {
				tb.await(`new URLSearchParams(location.hash.slice(1)).get("graphs") === %s`, quote(graphs))
			}
		}
		// Of a range in sight it shows the least and the most, of a range between two beats the beat before, and its time.
		var beats struct {
			Time       []float64
			Goroutines []*float64
		}
		tb.read(&beats, "scopeview.model.meta.beats")
		k := len(beats.Time) / 2
		tb.read(nil, "(scopeview.setView(%v, %v), 0)", beats.Time[k-2]+1, beats.Time[k]+1)
		tb.view()
		low, high2 := *beats.Goroutines[k-1], *beats.Goroutines[k]
		want := fmt.Sprintf("goroutines %v", low)
		if low != high2 {
			want = fmt.Sprintf("goroutines %v–%v", min(low, high2), max(low, high2))
		}
		if got := tb.legend(".goroutines"); got != want+"\n" {
			t.Errorf("with two beats in sight the legend says %q, want %q", got, want)
		}
		tb.read(nil, "(scopeview.setView(%v, %v), 0)", beats.Time[1]+1000, beats.Time[2]-1000)
		tb.view()
		var n, at float64
		got := tb.legend(".goroutines")
		if _, err := fmt.Sscanf(got, "goroutines %g, at %g s", &n, &at); err != nil || n != *beats.Goroutines[1] || math.Abs(at-beats.Time[1]/1e9) > 0.05 {
			t.Errorf("between two beats the legend says %q, want %v, at %v ns", got, *beats.Goroutines[1], beats.Time[1])
		}
	})
}

// TestFoldedStates: a folded group shows what its rows did, though they have no scopes: as high as
// so many of them did it. The pop-up says how many.
func TestFoldedStates(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, groundTrace(t), browser.View{})
		var id string
		tb.read(&id, `[...document.querySelectorAll("#rows .label.group")].map((l) => l.dataset.id).find((id) => scopeview.rows.stripOf(id).rows.length >= %d)`, traces.Crowd)
		if n := tb.number("scopeview.drawn.shares"); n < 1 {
			t.Fatalf("the states of %v groups are drawn", n)
		}
		job := tb.find(traces.Grind, "")
		at := job.Start + 2*job.Dur
		label := tb.box(fmt.Sprintf("#rows [data-id=%q]", id))
		if c := tb.colorAt(tb.xOf(at), label.Y+label.Height/2); !alikeColors(c, tb.colorOf("--state-channel")) {
			t.Errorf("where all wait for a channel the group has the colour %v", c)
		}
		tb.check(tb.Point(tb.xOf(at), label.Y+label.Height/2))
		tb.settle()
		if s := tb.popup(); !strings.Contains(s, fmt.Sprintf("waiting for a channel\n%d", traces.Crowd)) {
			t.Errorf("the pop-up of the group says %q", s)
		}
		// Opened it still does; with the states off nothing does.
		tb.read(nil, `scopeview.chooseRow(%s)`, quote(id))
		tb.press("KeyX")
		if n := tb.number(`scopeview.rows.stripOf(%s).statesHigh`, quote(id)); n == 0 {
			t.Error("an open group does not show what its rows did")
		}
		tb.press("KeyX")
		tb.press("KeyE", "KeyE")
		if n := tb.number("scopeview.drawn.shares"); n != 0 {
			t.Errorf("with the states off those of %v groups are drawn", n)
		}
		faultless(t, tb, "a folded group's states")
	})
}
