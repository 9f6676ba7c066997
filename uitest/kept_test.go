package uitest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// remembering opens an address in a tab that remembers what was chosen in it.
func remembering(t *testing.T, address string) *tab {
	t.Helper()
	p, err := current(t).Open(address, browser.View{})
	check(t, err)
	tb := &tab{p, t}
	t.Cleanup(func() {
		for _, f := range p.Faults() {
			t.Errorf("the page must not do this: %s", f)
		}
		if t.Failed() {
			tb.keep()
		}
		p.Close()
	})
	return tb
}

// again opens an address in the same tab.
func (tb *tab) again(address string) {
	tb.t.Helper()
	tb.check(tb.Go("about:blank"))
	tb.check(tb.Go(address))
	tb.isThere()
}

func (tb *tab) isThere() {
	tb.t.Helper()
	tb.check(tb.Ready(patient))
	tb.check(tb.Eval(helpers, nil))
	tb.settle()
}

// keptTraces is the address of a server of three traces: two of one program, and one of another.
func keptTraces(t *testing.T) (address string) {
	t.Helper()
	folder := t.TempDir()
	for name, of := range map[string]string{"first": storeTrace(t), "second": storeTrace(t), "other": traceOf(t, demo)} {
		b, err := os.ReadFile(of)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(folder, name+".scope"), b, 0o600))
	}
	return serve(t, folder)
}

// traceIn opens a trace of the list in the same tab.
func (tb *tab) traceIn(list, name string) {
	tb.t.Helper()
	tb.check(tb.Go(list))
	tb.await(`[...document.querySelectorAll("#traces a")].some((a) => a.textContent.startsWith(%s))`, quote(name))
	tb.read(nil, `[...document.querySelectorAll("#traces a")].find((a) => a.textContent.startsWith(%s)).click(), 0`, quote(name))
	tb.await(`location.pathname.startsWith("/t/") && document.documentElement.dataset.ready === "true"`)
	tb.isThere()
}

// looks are the look of the rows and the graphs, and the height of the panel in CSS pixels.
type looks struct {
	Sort, Color, Graphs, States string
	Locks, OneLine              bool
	Panel                       float64
}

func (tb *tab) looks() (l looks) {
	tb.t.Helper()
	tb.settle()
	tb.read(&l, `(({ choices: c, graphs }) => ({ sort: c.sort, color: c.colorBy, graphs, states: c.states, locks: c.locks, oneLine: c.oneLine, panel: Math.round(document.getElementById("panel").offsetHeight) }))(scopeview)`)
	return l
}

// TestChoicesAreKept: what was chosen for a program's trace is there in its next one, and not in another program's; a
// link shows what its sender saw.
func TestChoicesAreKept(t *testing.T) {
	browsers(t, func(t *testing.T) {
		list := keptTraces(t)
		tb := remembering(t, list)
		tb.traceIn(list, "first")
		usual := tb.looks()
		tb.press("KeyE", "KeyK", "KeyO")
		tb.shift("KeyQ")
		tb.read(nil, `(() => { const s = document.getElementById("row-sort"); s.value = "cpu"; s.dispatchEvent(new Event("change")); })()`)
		divider := tb.box("#divider")
		tb.check(tb.Drag(divider.X+200, divider.Y+divider.Height/2, divider.X+200, divider.Y-80))
		chosen := tb.looks()
		if chosen.Sort != "cpu" || chosen.States != "thick" || chosen.Locks || !chosen.OneLine || chosen.Graphs == usual.Graphs || chosen.Panel < usual.Panel+50 {
			t.Fatalf("the choices make %+v of %+v", chosen, usual)
		}
		tb.read(nil, "location.hash = '', window.before = true, location.reload(), 0")
		tb.await(`!window.before && document.documentElement.dataset.ready === "true"`)
		tb.isThere()
		if is := tb.looks(); is != chosen {
			t.Errorf("after a reload it looks like %+v, want %+v", is, chosen)
		}
		tb.traceIn(list, "second")
		if is := tb.looks(); is != chosen {
			t.Errorf("the program's next trace looks like %+v, want %+v", is, chosen)
		}
		// A link of somebody who has chosen nothing.
		tb.read(nil, "location.assign(location.pathname + '#tab=about'), window.before = true, location.reload(), 0")
		tb.await(`!window.before && document.documentElement.dataset.ready === "true" && scopeview.tab === "about"`)
		tb.isThere()
		if is := tb.looks(); is.Sort != usual.Sort || is.States != usual.States || is.Locks != usual.Locks || is.OneLine != usual.OneLine || is.Graphs != usual.Graphs {
			t.Errorf("a link shows %+v, want the usual %+v", is, usual)
		}
		tb.traceIn(list, "other")
		if is := tb.looks(); is.Sort != usual.Sort || is.States != usual.States || is.OneLine != usual.OneLine || is.Graphs != usual.Graphs || is.Panel == chosen.Panel {
			t.Errorf("another program's trace looks like %+v, want the usual %+v", is, usual)
		}
		tb.traceIn(list, "first")
		if is := tb.looks(); is != chosen {
			t.Errorf("then the first trace looks like %+v, want %+v", is, chosen)
		}
		// By the keyboard: the divider's height is kept, too.
		tb.read(nil, `document.getElementById("divider").focus()`)
		tb.press("ArrowDown")
		lower := tb.looks()
		tb.traceIn(list, "second")
		if is := tb.looks(); is != lower || lower.Panel >= chosen.Panel {
			t.Errorf("after ↓ on the divider the next trace looks like %+v, want %+v", is, lower)
		}
	})
}

// TestColorsAreKept: a name that both traces of a program have has one colour in both, whatever else they have.
func TestColorsAreKept(t *testing.T) {
	browsers(t, func(t *testing.T) {
		folder := t.TempDir()
		gostats, err := demoProgram()
		check(t, err)
		first, second := filepath.Join(folder, "first.scope"), filepath.Join(folder, "second.scope")
		for _, run := range [][]string{{first, "60"}, {second, "5"}} {
			_, err := gostats.Run("-workers", "2", "-limit-files", run[1], "-trace", run[0])
			check(t, err)
		}
		list := serve(t, folder)
		tb := remembering(t, list)
		tb.traceIn(list, "first")
		colors := func() (of map[string]string) {
			t.Helper()
			tb.press("Digit2")
			for _, name := range []string{"parse", "count", "gzip", "read"} {
				tb.read(nil, `scopeview.searchBox.set(%s), scopeview.select(null), 0`, quote(name))
				tb.read(nil, `(() => { const s = test.find(%s, ""); scopeview.select(scopeview.model.find(s.key, s.depth, s.start)); })()`, quote(name))
				tb.settle()
				var c string
				tb.read(&c, `getComputedStyle(document.querySelector("#view-details .head .swatch")).backgroundColor`)
				if of == nil {
					of = map[string]string{}
				}
				of[name] = c
			}
			return of
		}
		had := colors()
		tb.traceIn(list, "second")
		is := colors()
		for name, c := range had {
			if is[name] != c {
				t.Errorf("%s is %s in the first trace, and %s in the second", name, c, is[name])
			}
		}
	})
}

// TestColumns: the columns of a table are chosen, also by keys; the choice is kept, for this table only.
func TestColumns(t *testing.T) {
	browsers(t, func(t *testing.T) {
		address := fileURL(pageOf(t, storeTrace(t)))
		tb := remembering(t, address)
		tb.isThere()
		tb.await(`document.querySelectorAll(".summary tbody tr").length > 2`)
		heads := func(caption string) (list []string) {
			t.Helper()
			tb.settle()
			tb.read(&list, `[...[...document.querySelectorAll("#view-summary table")].find((t) => t.caption.textContent.startsWith(%s)).querySelectorAll("thead th")].filter((e) => e.checkVisibility()).map((e) => e.textContent.replace(/ [↓↑]$/, ""))`, quote(caption))
			return list
		}
		all, locks := heads("Scopes by name"), heads("Locks")
		cells := func() int {
			return int(tb.number(`document.querySelector("#view-summary tbody tr").cells.length`))
		}
		open := tb.box("#view-summary .columns-menu summary")
		tb.check(tb.Click(open.X+open.Width/2, open.Y+open.Height/2))
		tb.settle()
		var offered []string
		tb.read(&offered, `[...document.querySelector("#view-summary .columns-menu[open] .items").querySelectorAll("label")].map((l) => l.textContent)`)
		if want := all[1:]; !slices.Equal(offered, want) {
			t.Errorf("offered are %q, want %q", offered, want)
		}
		if b := tb.box("#view-summary .columns-menu[open] .items"); b.X < 0 || b.Y < 0 || b.X+b.Width > browser.Width || b.Y+b.Height > browser.Height {
			t.Errorf("the list of columns is at %+v", b)
		}
		withAxe(t, tb, "the choice of columns")
		mean := tb.box(`#view-summary .columns-menu[open] label:nth-of-type(4) input`)
		tb.check(tb.Click(mean.X+mean.Width/2, mean.Y+mean.Height/2))
		without := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == offered[3] })
		if is := heads("Scopes by name"); !slices.Equal(is, without) || cells() != len(without) {
			t.Errorf("without %s the columns are %q with %d cells, want %q", offered[3], is, cells(), without)
		}
		// By keys: the next one, too.
		tb.press("Tab", "Space")
		without = slices.DeleteFunc(without, func(s string) bool { return s == offered[4] })
		if is := heads("Scopes by name"); !slices.Equal(is, without) || cells() != len(without) {
			t.Errorf("without %s, by keys, the columns are %q with %d cells, want %q", offered[4], is, cells(), without)
		}
		if is := heads("Locks"); !slices.Equal(is, locks) {
			t.Errorf("the columns of another table are %q, before %q", is, locks)
		}
		tb.again(address)
		tb.await(`document.querySelectorAll(".summary tbody tr").length > 2`)
		if is := heads("Scopes by name"); !slices.Equal(is, without) || cells() != len(without) {
			t.Errorf("the next time the columns are %q with %d cells, want %q", is, cells(), without)
		}
		// What is hidden is still sorted by, and comes back.
		tb.read(nil, `document.querySelector("#view-summary .columns-menu").open = true, [...document.querySelectorAll("#view-summary .columns-menu[open] label")].slice(3, 5).forEach((l) => l.querySelector("input").click())`)
		if is := heads("Scopes by name"); !slices.Equal(is, all) {
			t.Errorf("with all of them the columns are %q, want %q", is, all)
		}
	})
}
