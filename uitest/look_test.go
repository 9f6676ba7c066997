package uitest

import (
	"fmt"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// TestEightWorkersInSight: in a small window eight workers with what they did, the processors
// and the lock that they wait for are in sight at once. In a large one rows are higher, and
// two tabs are beside each other.
func TestEightWorkersInSight(t *testing.T) {
	page := fileURL(pageOf(t, record(t, "eight", 100)))
	browsers(t, func(t *testing.T) {
		tb := show(t, page, browser.View{Width: 1280, Height: 800})
		tb.await("scopeview.drawn.states > 0")
		rows := tb.box("#rows")
		inside := func(what, selector string) {
			t.Helper()
			var b *box
			tb.read(&b, `(() => { const e = %s; return e ? e.getBoundingClientRect().toJSON() : null; })()`, selector)
			if b == nil || b.Y < rows.Y-1 || b.Y+b.Height > rows.Y+rows.Height+1 {
				t.Errorf("%s is at %+v, the rows are at %+v", what, b, rows)
			}
		}
		for w := range traces.Crew {
			name := fmt.Sprintf("worker %d", w+1)
			inside(name, fmt.Sprintf(`Array.from(document.querySelectorAll("#rows .label.row")).find((l) => l.querySelector(".name").textContent === %s)`, quote(name)))
		}
		inside(traces.Lock, `document.querySelector("#rows .label.lock")`)
		small := tb.number(`parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--line-h"))`)
		tb.check(tb.See(browser.View{Width: 2560, Height: 1440}))
		tb.await(`document.querySelectorAll("#panel [role=tabpanel]:not([hidden])").length === 2`)
		tb.settle()
		large := tb.number(`parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--line-h"))`)
		if large <= small {
			t.Errorf("lines are %v px high in a large window, %v in a small one", large, small)
		}
		end := tb.number(`Math.max(...Array.from(document.querySelectorAll("#rows .label"), (l) => l.getBoundingClientRect().bottom))`)
		if rows, panel := tb.box("#rows"), tb.box("#panel"); rows.Y+rows.Height-end > 20 || panel.Y+panel.Height < 1439 {
			t.Errorf("the rows end at %v of %+v, the panel is at %+v: something is blank", end, rows, panel)
		}
	})
}
