package uitest

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// TestPairAligned: the rows of two traces go together, each in its own time.
func TestPairAligned(t *testing.T) {
	browsers(t, func(t *testing.T) {
		before, after := builds(t)
		html := pageOf(t, before, "--with", after)
		tb := show(t, fileURL(html), browser.View{})
		tb.shiftJ()
		says(t, tb, "#live", "first select a scope in each trace, with the same name")
		// The tenth get in A, the fourth in B.
		tb.read(nil, `window.nth = (app, n) => {
			const [lane] = app.model.rows("goroutine")[0].lanes;
			const found = [];
			app.model.eachBar(lane, 0, Infinity, 0, ({ batch, i, j }) => { for (; i < j; i++) if (app.model.name(batch.name[i]) === "get") found.push({ batch, i }); });
			return found[n];
		}, window.b = () => scopeview.pair.app, scopeview.select(nth(scopeview, 9)), 0`)
		tb.read(nil, `(scopeview.setView(0, 40e6), 0)`)
		tb.settle()
		// A click on B's rows selects there: the details are those of B, not of A.
		box := tb.box("#rows-b canvas")
		var at span
		tb.read(&at, `(({ batch, i }) => ({ From: batch.start[i], To: batch.start[i] + batch.dur[i] }))(nth(b(), 3))`)
		tb.check(tb.Click(box.X+(at.From+at.To)/2/40e6*box.Width, box.Y+10))
		tb.settle()
		says(t, tb, "#view-details", "in B: after", "get")
		if n := tb.number(`b().selection.batch.start[b().selection.i]`); n != at.From {
			t.Errorf("the click selects what begins at %v, want %v", n, at.From)
		}
		if tb.selected() == nil {
			t.Error("a selection in B takes that in A away")
		}
		faultless(t, tb, "selected in B")
		tb.shiftJ()
		want := at.From - tb.number(`(({ batch, i }) => batch.start[i])(nth(scopeview, 9))`)
		if got := tb.number("scopeview.shift"); got != want || want == 0 {
			t.Errorf("B is shifted by %v, want %v", got, want)
		}
		together := func(when string) {
			t.Helper()
			tb.view()
			if d := tb.number("Math.abs(b().view.from - scopeview.view.from - scopeview.shift) + Math.abs(b().view.to - scopeview.view.to - scopeview.shift)"); d > 1 {
				t.Errorf("%s: the views are %v ns apart", when, d)
			}
		}
		together("aligned")
		tb.press("KeyW", "KeyD")
		together("moved by keys")
		tb.check(tb.Wheel(box.X+box.Width/2, box.Y+10, 0, -120, browser.Ctrl))
		together("zoomed over B")
		last := tb.number(`b().selection.batch.start[b().selection.i]`)
		tb.press("BracketRight")
		together("the next in B")
		if n := tb.number(`b().selection.batch.start[b().selection.i]`); n <= last {
			t.Errorf("the key selects in B what begins at %v, after %v", n, last)
		}
		tb.await(`location.hash.includes("shift=")`)
		var link string
		tb.read(&link, "location.hash")
		again := show(t, fileURL(html)+link, browser.View{})
		if got := again.number("scopeview.shift"); got != want {
			t.Errorf("the link shifts B by %v, want %v", got, want)
		}
		// Of the pop-up over B the times are B's.
		tb.read(nil, `(scopeview.setView(0, 40e6), 0)`)
		tb.settle()
		x := box.X + ((at.From+at.To)/2-want)/40e6*box.Width
		tb.check(tb.Point(x, box.Y+10))
		tb.settle()
		var begin string
		tb.read(&begin, "b().time(%v)", at.From)
		if !strings.Contains(tb.popup(), begin) {
			t.Errorf("the pop-up says %q, want its start %s", tb.popup(), begin)
		}
		// The rows of B can be folded, and made larger.
		high := tb.box(".pane-b").Height
		tb.read(nil, `document.querySelector(".divider").focus()`)
		tb.press("ArrowUp", "ArrowUp")
		large := tb.box(".pane-b").Height
		tb.press("ArrowDown")
		if h := tb.box(".pane-b").Height; large <= high || h >= large {
			t.Errorf("arrows on the divider make B's rows %v px high, then %v, before %v", large, h, high)
		}
		tb.read(nil, `document.querySelector(".head-b button").click()`)
		if tb.number(`document.querySelector("#rows-b").checkVisibility() ? 1 : 0`) != 0 {
			t.Error("B's rows are not folded")
		}
		faultless(t, tb, "B folded")
	})
}

func (tb *tab) shiftJ() {
	tb.t.Helper()
	tb.check(tb.Press("KeyJ", browser.Shift))
	tb.settle()
}
