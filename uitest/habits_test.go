package uitest

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// stairs is the trace that the tests of habits look at.
var stairs = sync.OnceValues(func() (string, error) {
	path := filepath.Join(dir, "stairs.scope")
	return path, traces.Stairs(path)
})

func showStairs(t *testing.T) *tab {
	t.Helper()
	path, err := stairs()
	if err != nil {
		t.Fatal(err)
	}
	return showTrace(t, path, browser.View{})
}

// choose selects the k-th scope of a name.
func (tb *tab) choose(name string, k int) {
	tb.t.Helper()
	tb.read(nil, `(() => {
		let n = 0;
		test.each((batch, i) => { if (test.name(batch, i) === %s && n++ === %d) scopeview.select({ batch, i }, { reveal: true }); });
	})()`, quote(name), k)
}

// TestFastKeys: keys that come within one animation end with the selection in sight.
func TestFastKeys(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		for _, c := range []struct {
			name, keys string
		}{
			{"bit", "Period Period Period Period"},
			{"bit", "BracketRight BracketRight BracketRight BracketLeft"},
			{"bit", "ArrowUp ArrowUp"},
			{"job", "ArrowDown ArrowDown BracketRight BracketRight ArrowUp"},
		} {
			tb.press("Digit0")
			tb.choose(c.name, 3)
			for _, key := range strings.Fields(c.keys) {
				tb.check(tb.Press(key))
			}
			v, s := tb.view(), tb.selected()
			if s == nil || s.Start < v.From || s.Start+s.Dur > v.To {
				t.Errorf("%s from a %s: %+v is selected, %v in sight", c.keys, c.name, s, v)
			}
			if b := tb.box(canvas); s != nil && s.Dur/v.width()*b.Width < 2 {
				t.Errorf("%s from a %s: %+v is too narrow to be seen in %v", c.keys, c.name, s, v)
			}
		}
	})
}

// TestPointerRests: where the pointer rests, the time and the pop-up are of what is
// there, also when the view has moved.
func TestPointerRests(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		job := tb.find("job", "")
		x, y := tb.seek(job.Start+job.Dur/4, "job")
		share := (x - tb.box(canvas).X) / tb.box(canvas).Width
		for _, key := range []string{"KeyW", "KeyD", "Digit0", "Shift+KeyD", "Digit0"} {
			if k, shift := strings.CutPrefix(key, "Shift+"); shift {
				tb.check(tb.Press(k, browser.Shift))
			} else {
				tb.check(tb.Press(key))
			}
			v := tb.view()
			want := v.From + share*v.width()
			if is := tb.number("scopeview.cursor"); math.Abs(is-want) > v.width()/1000 {
				t.Errorf("after %s the pointer is said to be at %v, want %v", key, is, want)
			}
			var under struct{ Says, Start string }
			tb.read(&under, `(() => {
				const c = document.querySelector("#rows canvas").getBoundingClientRect();
				const hit = scopeview.rows.at(%v - c.left, %v - c.top);
				return { says: hit?.batch ? test.name(hit.batch, hit.i) : "", start: hit?.batch ? scopeview.time(hit.batch.start[hit.i]) : "" };
			})()`, x, y)
			tb.await(`document.querySelector("#popup").hidden === %v`, under.Says == "")
			if says := tb.popup(); !strings.Contains(says, under.Start) {
				t.Errorf("after %s there is a %s of %s under the pointer, and the pop-up says %q", key, under.Says, under.Start, says)
			}
		}
	})
}

// TestSearchSteps: a step goes to the next row or hit, shows its number and the total, and
// zooms no further than necessary.
func TestSearchSteps(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		tb.search("bit")
		tb.await(`document.getElementById("search-count").textContent === "138 hits"`)
		tb.press("Enter")
		says(t, tb, "#search-count", "1 of 138")
		s, v := tb.selected(), tb.view()
		if part := s.Dur / v.width(); part < 0.04 || part > 0.06 {
			t.Errorf("the hit of %v ns is %.3f of the view of %v ns, want a twentieth", s.Dur, part, v.width())
		}
		tb.press("Enter", "Enter")
		says(t, tb, "#search-count", "3 of 138")
		if is, s := tb.view(), tb.selected(); !like(is.width(), v.width()) || s.Start < is.From || s.Start > is.To {
			t.Errorf("the third hit %+v is shown in %v, want it as near as %v", s, is, v)
		}
		tb.check(tb.Press("Enter", browser.Shift))
		tb.settle()
		says(t, tb, "#search-count", "2 of 138")
		tb.press("Escape")
		tb.press("Escape", "Digit0")
		whole := tb.view()
		tb.search("job")
		tb.press("Enter")
		if is := tb.view(); is != whole {
			t.Errorf("a job of 50 ms in 7 s is seen without zooming, but %v is shown", is)
		}
		tb.search("routine 2")
		tb.await(`document.getElementById("search-count").textContent === "0 hits"`)
		says(t, tb, "#search", "1 row")
		tb.press("Enter")
		tb.await(`scopeview.chosenRow === "g2"`)
		says(t, tb, "#search", "row 1 of 1")
		tb.search("o") // in jobs, and in the names of both rows
		tb.await(`document.getElementById("search-count").textContent === "138 hits"`)
		tb.press("Enter")
		says(t, tb, "#search-count", "1 of 138")
		tb.check(tb.Press("Enter", browser.Shift))
		tb.await(`!scopeview.selection && document.getElementById("search").innerText.includes("row 2 of 2")`)
		tb.read(nil, `[...document.querySelectorAll("#search button")].find((b) => b.textContent === "row 2 of 2").click()`)
		tb.await(`scopeview.chosenRow === "g1"`)
	})
}

// TestSearchDims: what a search has not found keeps a readable name, and what is selected
// its colour.
func TestSearchDims(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		tb.read(nil, `scopeview.setView(0, 60e6)`)
		fill := func() (colors []float64) {
			tb.view()
			// Most of the bar's upper edge has the colour of the fill. The ink differs most from it.
			tb.read(&colors, `(() => {
				const c = document.querySelector("#rows canvas");
				const px = devicePixelRatio, w = scopeview.rows.width();
				const x = (1e6 / 60e6) * w + 3;
				const d = c.getContext("2d").getImageData(x * px, 4 * px, 60 * px, 12 * px).data;
				const lum = (k) => { const f = (v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f(d[k]) + 0.7152 * f(d[k + 1]) + 0.0722 * f(d[k + 2]); };
				const all = [];
				for (let k = 0; k < d.length; k += 4) all.push(lum(k));
				const sorted = all.slice().sort((a, b) => a - b);
				return [sorted[sorted.length * 0.8 | 0], sorted[0]];
			})()`)
			return colors
		}
		plain := fill()
		tb.search("part")
		tb.await("scopeview.hits")
		dim := fill()
		if contrast := (dim[0] + 0.05) / (dim[1] + 0.05); contrast < 4.5 {
			t.Errorf("the name of a dimmed bar has a contrast of %.1f", contrast)
		}
		if dim[0] < plain[0]+0.1 {
			t.Errorf("what was not found is not dimmed: its fill has %.2f, before %.2f", dim[0], plain[0])
		}
		tb.press("Tab")
		tb.choose("job", 0)
		if is := fill(); math.Abs(is[0]-plain[0]) > 0.02 {
			t.Errorf("the selected bar is dimmed: its fill has %.2f, before the search %.2f", is[0], plain[0])
		}
	})
}

// TestAxis: the labels of ticks are readable, and the lines below them are at the same
// positions.
func TestAxis(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		tb.read(nil, `scopeview.setView(100000025, 100000425)`)
		tb.view()
		says(t, tb, "#ruler", "0.100000 s +")
		// At a tick the empty space is another colour than beside it.
		if n := tb.number(`(() => {
			const c = document.querySelector("#rows canvas"), px = devicePixelRatio;
			const x = Math.round(25 / 400 * scopeview.rows.width());
			const d = (x) => c.getContext("2d").getImageData(x * px, 10 * px, 1, 1).data.join();
			return d(x) !== d(x + 3) ? 1 : 0;
		})()`); n != 1 {
			t.Error("no line goes down from the tick at 0.10000005 s")
		}
		// The plots above end where the rows do: a time is at the same place in all.
		ruler, rows := tb.box("#ruler canvas"), tb.box(canvas)
		if ruler.X != rows.X || ruler.Width != rows.Width {
			t.Errorf("the ruler is at %+v, the rows at %+v", ruler, rows)
		}
	})
}

// TestSteps: Z, Ctrl+Z and the browser's Back take back what was looked at and chosen, Shift+Z
// and Forward do it again, and a link that is pasted is looked at.
func TestSteps(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		whole := tb.view()
		tb.choose("part", 1)
		tb.press("KeyF")
		near := tb.view()
		tb.await(`location.hash.includes("v=") && location.hash.includes("s=")`)
		tb.press("KeyR", "KeyM", "KeyH")
		tb.await(`location.hash.includes("r=") && location.hash.includes("m=") && location.hash.includes("hidden=g1")`)
		tb.read(nil, `location.hash = "#v=1000000000-2000000000&rows=2"`)
		tb.await(`scopeview.view.from === 1e9 && scopeview.view.to === 2e9 && document.getElementById("row-filter").value === "2"`)
		tb.await(`!scopeview.range && !scopeview.selection && scopeview.marks.length === 0`)
		tb.press("KeyZ")
		tb.await(`scopeview.range && scopeview.selection && scopeview.marks.length === 1 && scopeview.choices.hidden.has("g1") && scopeview.choices.filter === ""`)
		tb.read(nil, `history.back()`)
		tb.await(`!scopeview.range && scopeview.selection && scopeview.marks.length === 0 && scopeview.choices.hidden.size === 0`)
		if v := tb.view(); !like(v.From, near.From) || !like(v.To, near.To) {
			t.Errorf("Back shows %v, want %v", v, near)
		}
		tb.check(tb.Press("KeyZ", browser.Ctrl))
		tb.await(`!scopeview.selection`)
		if v := tb.view(); v != whole {
			t.Errorf("Ctrl+Z shows %v, want %v", v, whole)
		}
		tb.press("KeyZ")
		tb.await(`document.getElementById("live").textContent === "nothing to undo"`)
		tb.check(tb.Press("KeyZ", browser.Shift))
		tb.await(`scopeview.selection`)
		tb.read(nil, `history.forward()`)
		tb.await(`scopeview.range && scopeview.marks.length === 1`)
	})
}

// TestCopy: what is selected, and a link to what is shown, can be copied, also where the
// browser has the old way only.
func TestCopy(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		tb.choose("part", 1)
		tb.await(`document.querySelector("#view-details .head h2")?.textContent === "part"`)
		tb.read(nil, `navigator.clipboard.writeText = async (text) => { window.copied = text; }, 0`)
		click := func(what string) (text string) {
			tb.read(nil, `window.copied = undefined, document.querySelector("[aria-label='Copy %s']").click()`, what)
			tb.await("window.copied !== undefined")
			tb.await(`document.getElementById("live").textContent === "copied: %s"`, what)
			tb.read(&text, "window.copied")
			return text
		}
		if s := click("name"); s != "part" {
			t.Errorf("the name is copied as %q", s)
		}
		if s := click("duration"); s != "5000000 ns" {
			t.Errorf("the duration is copied as %q", s)
		}
		if s := click("all facts"); !strings.HasPrefix(s, "part\n") || !strings.Contains(s, "\nduration: 5.00 ms") {
			t.Errorf("the facts are copied as %q", s)
		}
		s := tb.selected()
		link := click("link")
		if n := tb.number(`document.querySelectorAll("#live.note").length`); n != 1 {
			t.Error("that something was copied is not seen")
		}
		tb.read(nil, `navigator.clipboard.writeText = () => Promise.reject(new Error("no")), document.addEventListener("copy", () => { window.copied = document.activeElement.value; }), window.copied = "", 0`)
		tb.press("KeyY")
		tb.await(`window.copied.startsWith(%s) && !document.querySelector("textarea.unseen")`, quote(link))
		tb.read(nil, `window.copied = "", [...document.querySelectorAll("#switches button")].find((b) => b.textContent === "Copy a link").click()`)
		tb.await(`window.copied.startsWith(%s)`, quote(link))
		if other := show(t, link, browser.View{}); *other.selected() != *s {
			t.Errorf("the link %s selects %+v, want %+v", link, other.selected(), s)
		}
	})
}

// reloadUntil reloads the page until it has what the browser stores. Chromium may start the next page before the
// last one's stores have arrived.
func (tb *tab) reloadUntil(has func() bool) {
	tb.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		tb.read(nil, "window.before = true, location.reload(), 0")
		tb.await(`!window.before && document.documentElement.dataset.ready === "true"`)
		tb.check(tb.Eval(helpers, nil))
		if has() {
			return
		}
		if time.Now().After(deadline) {
			tb.t.Fatal("what was stored is not there after a reload")
		}
	}
}

// TestThemeIsKept: a theme that was chosen is there the next time, whatever the system has.
func TestThemeIsKept(t *testing.T) {
	browsers(t, func(t *testing.T) {
		path, err := stairs()
		if err != nil {
			t.Fatal(err)
		}
		tb := show(t, serve(t, path), browser.View{}) // what Chromium stores for a file's page comes and goes
		tb.press("KeyT")
		tb.reloadUntil(func() bool { return tb.number(`document.documentElement.dataset.theme === "dark" ? 1 : 0`) == 1 })
		tb.check(tb.See(browser.View{Dark: true}))
		tb.check(tb.See(browser.View{}))
		tb.settle()
		tb.await(`document.documentElement.dataset.theme === "dark"`)
	})
}

// TestPanelHides: Q gives the panel's place to the rows, and a tab brings it back.
func TestPanelHides(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		tb.press("KeyQ")
		tb.await(`!document.getElementById("panel").checkVisibility() && !document.getElementById("divider").checkVisibility()`)
		tb.choose("part", 1)
		tb.await(`!document.getElementById("panel").checkVisibility()`)
		tb.press("Digit2")
		tb.await(`document.getElementById("view-summary").checkVisibility()`)
		if len(tb.table("#view-summary").Rows) != 3 {
			t.Error("the summary is empty once the panel is back")
		}
		tb.press("KeyQ", "KeyQ")
		tb.await(`document.getElementById("view-summary").checkVisibility()`)
	})
}

// TestMarks: moments and stretches are marked, named, visited, taken away, and kept by a link.
func TestMarks(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		tb.choose("part", 1)
		tb.press("KeyM") // where it begins
		tb.choose("job", 40)
		tb.check(tb.Press("KeyM", browser.Shift))
		tb.await(`document.activeElement?.closest(".marks") && document.activeElement.value === "job"`)
		tb.check(tb.Type("slow: a & b"))
		tb.press("Enter")
		var marks []struct {
			From, To float64
			Name     string
		}
		tb.read(&marks, "scopeview.marks")
		job := tb.selected()
		if len(marks) != 2 || marks[0].From != marks[0].To || marks[0].Name != "" || marks[1].From != job.Start || marks[1].To != job.Start+job.Dur || marks[1].Name != "slow: a & b" {
			t.Fatalf("the marks are %+v, the job is %+v", marks, job)
		}
		withAxe(t, tb, "marks")
		tb.read(nil, "scopeview.setView(6e9, 6.1e9)")
		tb.check(tb.Press("ArrowLeft", browser.Ctrl))
		if v := tb.view(); v.From > job.Start || v.To < job.Start+job.Dur {
			t.Errorf("Ctrl+← shows %v, want the marked job %+v", v, job)
		}
		tb.await(`document.getElementById("live").textContent.startsWith("slow: a & b, at")`)
		tb.check(tb.Press("ArrowLeft", browser.Ctrl))
		if v := tb.view(); v.From > marks[0].From || v.To < marks[0].From {
			t.Errorf("Ctrl+← again shows %v, want the mark at %v", v, marks[0].From)
		}
		var link string
		tb.read(&link, "scopeview.steps.link()")
		other := show(t, link, browser.View{})
		other.await(`scopeview.marks.length === 2 && scopeview.marks[1].name === "slow: a & b"`)
		other.read(nil, `document.querySelectorAll(".marks li button.link")[1].focus()`)
		other.press("Delete")
		other.await(`scopeview.marks.length === 1 && document.querySelectorAll(".marks li").length === 1`)
	})
}

// withAxe runs axe-core over what the page shows.
func withAxe(t *testing.T, tb *tab, state string) {
	t.Helper()
	source, err := os.ReadFile(axe)
	if err != nil {
		t.Log("no axe-core from npm; make deps installs it")
		return
	}
	tb.read(nil, "%s", string(source)+";0")
	faultless(t, tb, state)
}

// TestArea: a drag over rows selects the time of these rows, from begin to end of what is
// near, and the tables are of that; its ends can be moved, by the keyboard too.
func TestArea(t *testing.T) {
	browsers(t, func(t *testing.T) {
		const ms = 1e6
		tb := showStairs(t)
		tb.read(nil, "scopeview.setView(0, 1e9)")
		b := tb.box(canvas)
		rowY := func(k int) float64 {
			var y float64
			tb.read(&y, `[...document.querySelectorAll("#rows .label.row")][%d].getBoundingClientRect().top + 10`, k)
			return y
		}
		type area struct {
			From, To float64
			Rows     []string
		}
		selected := func() (a *area) {
			tb.settle()
			tb.read(&a, "scopeview.range && {...scopeview.range, rows: scopeview.area && [...scopeview.area]}")
			if a == nil {
				t.Fatal("nothing is selected")
			}
			return a
		}
		bits := func(want int) {
			tb.await(`test.table(document.querySelector("#view-summary table")).rows.find((r) => r[0] === "bit")?.[1] === "%d"`, want)
		}
		// Two jobs of the first goroutine, each end 2 ms off.
		tb.check(tb.Drag(b.X+0.203*b.Width, rowY(0), b.X+0.349*b.Width, rowY(0)))
		a := selected()
		if math.Abs(a.From-201*ms) > 2000 || math.Abs(a.To-351*ms) > 2000 || len(a.Rows) != 1 || a.Rows[0] != "g1" {
			t.Fatalf("the drag selects %+v, want the jobs from 201 to 351 ms of g1", a)
		}
		says(t, tb, "#view-summary h2", "150 ms selected of 1 row")
		bits(2)
		tb.read(nil, `scopeview.showRuns("bit")`)
		tb.await(`document.getElementById("view-runs").innerText.includes("2 executions touch the selected 150 ms of 1 row")`)
		tb.press("Digit2")
		withAxe(t, tb, "an area")
		tb.read(nil, `[...document.querySelectorAll("#view-summary button")].find((b) => b.textContent === "all rows").click()`)
		tb.await(`scopeview.area === null && !document.querySelector("#view-summary h2").textContent.includes("row")`)
		bits(3)
		tb.press("Escape") // at an end of it a drag would move that end
		tb.check(tb.Drag(b.X+0.203*b.Width, rowY(0), b.X+0.349*b.Width, rowY(1)))
		if a = selected(); len(a.Rows) != 2 {
			t.Errorf("a drag over two rows selects %v", a.Rows)
		}
		// The handle at its end, by keys and by the mouse.
		tb.read(nil, `document.querySelectorAll("#ruler .handle")[1].focus()`)
		tb.press("ArrowRight", "ArrowRight")
		moved := selected()
		if moved.From != a.From || !like(moved.To, a.To+10*ms) || len(moved.Rows) != 2 {
			t.Errorf("→ → on the end of %+v make it %+v, want it 10 ms later", a, moved)
		}
		h := tb.box("#ruler .handle:not([hidden])")
		tb.check(tb.Drag(h.X+h.Width/2, h.Y+h.Height/2, h.X+h.Width/2-b.Width*0.1, h.Y+h.Height/2))
		if left := selected(); left.To != moved.To || math.Abs(left.From-(moved.From-100*ms)) > 3*ms {
			t.Errorf("the handle at the begin makes %+v of %+v, want it 100 ms earlier", left, moved)
		}
		// A link has it, and a drag on the axis is of all rows.
		var link string
		tb.read(&link, "scopeview.steps.link()")
		show(t, link, browser.View{}).await(`scopeview.area.size === 2 && scopeview.area.has("g2")`)
		r := tb.box("#ruler canvas")
		tb.check(tb.Drag(r.X+0.5*r.Width, r.Y+5, r.X+0.6*r.Width, r.Y+5))
		if a = selected(); a.Rows != nil || math.Abs(a.From-500*ms) > 3*ms || math.Abs(a.To-600*ms) > 3*ms {
			t.Errorf("a drag on the axis selects %+v", a)
		}
	})
}

// TestStatesOfAnArea: what the goroutines of the rows did in the time is a table.
func TestStatesOfAnArea(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, contendedTrace(t), browser.View{})
		tb.read(nil, `scopeview.setRange({ from: 0, to: scopeview.model.end }, new Set(scopeview.model.rows().map((r) => "g" + r.key)))`)
		tb.await(`[...document.querySelectorAll("#view-summary table")].some((t) => t.checkVisibility() && t.caption.textContent === "States of the goroutines of these rows" && t.tBodies[0].rows.length > 1)`)
		var shares []string
		tb.read(&shares, `(() => { const t = test.table([...document.querySelectorAll("#view-summary table")].find((t) => t.caption.textContent.startsWith("States of the"))); return t.rows.map((r) => r[t.head.indexOf("of it")]); })()`)
		if len(shares) == 0 || shares[0] == "" || shares[0] == "0%" {
			t.Errorf("the shares of the states are %q", shares)
		}
	})
}

// TestPalette: each command, row and name is found by a few letters, with its key.
func TestPalette(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showStairs(t)
		tb.check(tb.Press("KeyP", browser.Ctrl, browser.Shift))
		tb.await(`document.querySelector(".palette[open]") && document.activeElement.getAttribute("role") === "combobox"`)
		withAxe(t, tb, "the palette")
		tb.check(tb.Type("light dark"))
		says(t, tb, ".palette [aria-selected='true']", "light or dark", "T")
		tb.press("Enter")
		tb.await(`!document.querySelector(".palette[open]") && document.documentElement.dataset.theme === "dark"`)
		tb.press("Slash")
		tb.check(tb.Type(">routine 2"))
		tb.await(`document.querySelector(".palette[open] li .name")?.textContent === "goroutine 2"`)
		withAxe(t, tb, "the palette in the dark")
		tb.press("Enter")
		tb.await(`scopeview.chosenRow === "g2" && !scopeview.hits`)
		tb.read(nil, `document.getElementById("rows").focus()`)
		tb.check(tb.PressAs("Period", ">"))
		tb.await(`document.querySelector(".palette[open]")`)
		tb.press("ArrowDown", "ArrowDown", "ArrowUp")
		tb.await(`document.activeElement.getAttribute("aria-activedescendant") === "palette-1" && document.getElementById("palette-1").ariaSelected === "true"`)
		tb.check(tb.Type("there is none of it"))
		tb.await(`!document.querySelector(".palette li") && !document.activeElement.hasAttribute("aria-activedescendant")`)
		tb.press("Enter", "Escape")
		tb.await(`!document.querySelector(".palette[open]")`)
		tb.check(tb.Press("KeyP", browser.Ctrl, browser.Shift))
		tb.check(tb.Type("bit"))
		tb.await(`document.querySelector(".palette li .name")?.textContent === "bit"`)
		tb.press("Enter")
		if s := tb.selected(); s == nil || s.Name != "bit" {
			t.Errorf("bit in the palette selects %+v", s)
		}
	})
}
