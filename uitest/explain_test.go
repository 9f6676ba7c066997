package uitest

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// delayed and nested are the traces of the programs of these names.
var (
	delayed = sync.OnceValues(func() (string, error) { return recorded("delayed", 3) })
	nested  = sync.OnceValues(func() (string, error) { return recorded("nested", 3) })
)

func recorded(program string, size int) (string, error) {
	path := filepath.Join(dir, program+".scope")
	return path, traces.Record(path, program, size)
}

func traceOf(t *testing.T, trace func() (string, error)) string {
	t.Helper()
	path, err := trace()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// crumbs returns the steps of the followed chain, from the panel.
func (tb *tab) crumbs() (list []string) {
	tb.t.Helper()
	tb.read(&list, `Array.from(document.querySelectorAll("#panel .why .chain li button"), (b) => b.textContent)`)
	return list
}

// chosen returns the name and row of the selection.
func (tb *tab) chosen() (name string) {
	tb.t.Helper()
	tb.read(&name, `(() => {
		const { selection: s, stateSelection: t, model } = scopeview;
		return t ? t.title + ": " + t.set.nameOf(t.run.top) : s ? model.place(s).row.title + ": " + test.name(s.batch, s.i) : "";
	})()`)
	return name
}

// followRequest asks why the delayed request took so long, in four actions: search, Enter, the
// button of the longest wait inside, Shift+B.
func followRequest(t *testing.T, tb *tab) {
	t.Helper()
	tb.search(fmt.Sprint(traces.Delayed))
	tb.press("Enter")
	if s := tb.selected(); s == nil || s.Name != traces.Request {
		t.Fatalf("the search for the request leads to %+v", s)
	}
	says(t, tb, "#panel .why", "Where its time went", "waiting for "+traces.Outer, "longest wait inside")
	inside := tb.box(`#panel [data-keep="wait inside"]`)
	tb.check(tb.Click(inside.X+inside.Width/2, inside.Y+inside.Height/2))
	tb.settle()
	if got := tb.chosen(); got != traces.Server+": "+traces.Outer {
		t.Fatalf("the longest wait inside is %q", got)
	}
	tb.await(`document.querySelector("#panel .why .shares li button")?.textContent.includes(%s)`, quote(traces.Keeper+", in "+traces.Keep))
	says(t, tb, "#panel .why", "Holders during the wait", "meanwhile: waiting for "+traces.Inner, "First in line: none waited already")
	says(t, tb, "#panel .facts", "held by", traces.Keeper+", in "+traces.Keep, "1 waiting")
	if sum := tb.number(`Array.from(document.querySelectorAll("#panel .why .parts > span"), (s) => Number(s.style.flexGrow)).reduce((a, b) => a + b)`); math.Abs(sum-1) > 1e-4 {
		t.Errorf("the parts of the bar add up to %v of the wait", sum)
	}
	checkHolder(t, tb)
	tb.check(tb.Press("KeyB", browser.Shift))
	tb.settle()
	root := "root: " + traces.Packer + ", "
	if s := tb.text("#live"); !strings.HasPrefix(s, root) || !strings.Contains(s, ", in "+traces.Pack) {
		t.Errorf("Shift+B says %q, want the root %q", s, root)
	}
	if got := tb.chosen(); !strings.HasPrefix(got, traces.Packer+": ") {
		t.Errorf("Shift+B leads to %q", got)
	}
}

// checkHolder: the pop-up has a line with the holder of the lock and the number of waiting
// goroutines.
func checkHolder(t *testing.T, tb *tab) {
	t.Helper()
	wait := tb.selected()
	tb.view()
	x, y := tb.seek(wait.Start+wait.Dur/2, "wait for "+traces.Outer)
	line := tb.popup()
	if !strings.Contains(line, "held by") || !strings.Contains(line, traces.Keeper+", in "+traces.Keep+" (") || !strings.Contains(line, "1 waiting") {
		t.Errorf("at %v, %v the pop-up does not name the holder of the lock: %q", x, y, line)
	}
}

// TestExplainRequest: the panel shows the cause of a delayed request, over locks and a
// channel.
func TestExplainRequest(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, traceOf(t, delayed), browser.View{})
		followRequest(t, tb)
		// Of the chain each step leads to its place, one after another too.
		crumbs := tb.crumbs()
		for i, starts := range []string{
			traces.Server + " waits for " + traces.Outer, traces.Keeper + " holds " + traces.Outer + ", waits for " + traces.Inner,
			traces.Flusher + " holds " + traces.Inner + ", waits for a channel", traces.Packer + " woke it, ",
		} {
			if i >= len(crumbs) || !strings.HasPrefix(crumbs[i], starts) {
				t.Fatalf("step %d of the chain %q is not %q", i, crumbs, starts)
			}
		}
		tb.read(nil, `document.querySelector('#panel [data-keep="step 0"]').focus()`)
		tb.press("Enter")
		arrows := tb.number("scopeview.drawn.arrows")
		// The holder leads to the hold, and the chain stays.
		tb.read(nil, `document.querySelector("#panel .why .shares li button").focus()`)
		tb.press("Enter")
		if got := tb.chosen(); got != traces.Keeper+": "+traces.Outer || !slices.Equal(tb.crumbs(), crumbs) {
			t.Errorf("the holder leads to %q, and the chain is %q", got, tb.crumbs())
		}
		for _, want := range []string{traces.Keeper + ": " + traces.Inner, traces.Flusher + ": channel", traces.Packer + ": "} {
			tb.press("KeyB")
			if got := tb.chosen(); !strings.HasPrefix(got, want) {
				t.Errorf("B leads to %q, want %q", got, want)
			}
			if got := tb.crumbs(); !slices.Equal(got, crumbs) {
				t.Errorf("the chain became %q", got)
			}
			tb.view()
		}
		if arrows < 3 {
			t.Errorf("%v arrows are drawn of a chain of four", arrows)
		}
	})
}

// TestExplainServed: a page that is served explains as much, in the dark, and without a fault.
func TestExplainServed(t *testing.T) {
	source, err := os.ReadFile(axe)
	if err != nil {
		t.Skip("no axe-core from npm; make deps installs it")
	}
	browsers(t, func(t *testing.T) {
		tb := show(t, serve(t, traceOf(t, delayed)), browser.View{Dark: true})
		tb.await("scopeview.model.waits.any")
		tb.read(nil, "%s", string(source)+";0")
		followRequest(t, tb)
		faultless(t, tb, "the root of a chain")
		tb.press("Escape")
		tb.search(fmt.Sprint(traces.Delayed))
		tb.press("Enter")
		faultless(t, tb, "where a scope's time went")
		tb.press("Escape", "KeyB")
		faultless(t, tb, "why a wait took so long")
	})
}

// TestExplainMutex: of a scope.Mutex the first hold is not on record, only the holder when the
// wait began. Without states the chain ends where nothing more is known.
func TestExplainMutex(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, traceOf(t, nested), browser.View{})
		tb.search(fmt.Sprint(traces.Delayed))
		tb.press("Enter", "Escape", "KeyB")
		says(t, tb, "#panel .why", "at most "+traces.Keeper+", in "+traces.Keep, "when it released the lock is unknown", "are unknown")
		tb.check(tb.Press("KeyB", browser.Shift))
		tb.settle()
		if s := tb.text("#live"); !strings.HasPrefix(s, "root: "+traces.Flusher+", activity unknown: no states of goroutine") {
			t.Errorf("the root is said to be %q", s)
		}
	})
}

// TestExplainOpen: what still waits is explained too, while the program runs.
func TestExplainOpen(t *testing.T) {
	trace := pathOf(t, "stuck.scope")
	_, out := startProgram(t, trace, "stuck", 3)
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the program says nothing")
	}
	address := serve(t, trace)
	browsers(t, func(t *testing.T) {
		tb := show(t, address, browser.View{})
		tb.check(tb.Wait("scopeview.model.openBatch.kind.filter((k) => k === 6).length === 2 && scopeview.model.waits.locks.length === 2", 30*time.Second))
		tb.search(fmt.Sprint(traces.Delayed))
		tb.press("Enter", "Escape", "KeyB")
		tb.await(`document.querySelector("#panel .facts").textContent.includes(%s)`, quote(traces.Keeper+", in "+traces.Keep))
		if got, want := tb.crumbs(), []string{traces.Server + " waits for " + traces.Outer, traces.Keeper + " holds " + traces.Outer + ", waits for " + traces.Inner}; len(got) != 3 || !slices.Equal(got[:2], want) {
			t.Errorf("the chain is %q, want %q and its root", got, want)
		}
		part := tb.number("scopeview.model.end")
		tb.await("scopeview.model.end > %v", part+2e9)
		says(t, tb, "#panel .why", traces.Keeper+", in "+traces.Keep, "root: "+traces.Flusher)
	})
}

// TestArrowsOnHover: no arrow is drawn unasked; a wait under the pointer has the one from its holder.
func TestArrowsOnHover(t *testing.T) {
	path := pathOf(t, "queue.scope")
	if err := traces.Queue(path, 90, 6); err != nil {
		t.Fatal(err)
	}
	html := fileURL(pageOf(t, path))
	browsers(t, func(t *testing.T) {
		tb := show(t, html, browser.View{})
		if waits, arrows := tb.number("scopeview.drawn.waits"), tb.number("scopeview.drawn.arrows"); waits != 90 || arrows != 0 {
			t.Errorf("%v arrows of %v waits are drawn unasked", arrows, waits)
		}
		var wait struct{ Start, Dur float64 }
		tb.read(&wait, `(() => { let w = null; test.each((batch, i) => { if (batch.kind[i] === 6 && (!w || batch.dur[i] > w.dur)) w = { start: batch.start[i], dur: batch.dur[i] }; }); return w; })()`)
		tb.seek(wait.Start+wait.Dur/2, "wait for")
		tb.await("scopeview.drawn.arrows === 1")
		tb.check(tb.Point(2, 2))
		tb.await("scopeview.drawn.arrows === 0")
	})
}

// TestDetailsFit: nothing in Details lies over something else, or is cut.
func TestDetailsFit(t *testing.T) {
	views := []browser.View{{Width: 1280, Height: 800}, {Width: 1000, Height: 640}, {Width: 640, Height: 400, Scale: 2}, {Width: 2560, Height: 1440}}
	// Blocks must not meet; what is in one must not come out of it.
	const misfits = `(() => {
		const seen = (e) => e.checkVisibility() && e.getBoundingClientRect().width > 0;
		const details = document.querySelector("#panel .details");
		const blocks = Array.from(details.querySelectorAll(".head, .why > *, .columns > *")).filter(seen);
		const box = (e) => e.getBoundingClientRect(), found = [];
		const name = (e) => (e.className || e.tagName) + " " + e.textContent.slice(0, 30);
		blocks.forEach((a, k) => {
			const r = box(a);
			if (r.left < box(details).left - 1 || r.right > box(details).left + details.clientWidth + 1) found.push(name(a) + " is cut");
			for (const b of blocks.slice(k + 1)) {
				const s = box(b);
				if (Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 && Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 1) found.push(name(a) + " | " + name(b));
			}
			for (const e of a.querySelectorAll("*")) {
				const s = box(e);
				if (seen(e) && e.textContent.trim() !== "" && (s.left < r.left - 2.5 || s.right > r.right + 1 || s.bottom > r.bottom + 1)) found.push(name(e) + " comes out of " + name(a));
			}
		});
		return found;
	})()`
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, traceOf(t, delayed), browser.View{})
		for _, v := range views {
			tb.check(tb.See(v))
			tb.settle()
			tb.search(fmt.Sprint(traces.Delayed))
			tb.press("Enter", "Escape")
			for _, what := range []string{"scope", "wait", "holder", "interval"} { // each is a step from the one before
				tb.settle()
				var found []string
				if tb.read(&found, misfits); len(found) > 0 {
					t.Errorf("%d × %d, %s: %q", v.Width, v.Height, what, found[:min(6, len(found))])
				}
				if to := os.Getenv("SCOPEVIEW_UITEST_PICTURES"); to != "" {
					tb.view()
					png, err := tb.Picture()
					tb.check(err)
					tb.check(os.WriteFile(filepath.Join(to, fmt.Sprintf("fit-%d-%s.png", v.Width, what)), png, 0o644))
				}
				tb.press("KeyB")
			}
		}
	})
}
