package uitest

import (
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// TestColorBy: scopes of one name are of one colour; by their argument they are not, and a link
// keeps that.
func TestColorBy(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		a, b := tb.find("parse", traces.Longest), tb.find("parse", "file-2-7.go")
		y := map[*scope]float64{} // in the upper half of the bar
		colors := func(s *scope) [3]float64 {
			t.Helper()
			tb.read(nil, "(scopeview.setView(%v, %v), 0)", s.Start-s.Dur/10, s.Start+s.Dur*1.1)
			if y[s] == 0 {
				_, y[s] = tb.seek(s.Start+s.Dur*0.9, "parse")
			}
			return tb.colorAt(tb.xOf(s.Start+s.Dur*0.9), y[s]+4)
		}
		if x, y := colors(a), colors(b); !alikeColors(x, y) {
			t.Errorf("by name one parse is %v, another %v", x, y)
		}
		tb.read(nil, `document.querySelector("#switches .menu summary").focus()`)
		tb.press("Enter")
		faultless(t, tb, "the menu")
		tb.read(nil, `(() => { const s = document.querySelector("#switches select"); s.value = "argument file"; s.dispatchEvent(new Event("change")); })()`)
		tb.press("Escape")
		if x, y := colors(a), colors(b); alikeColors(x, y) {
			t.Errorf("by argument two files are both %v", x)
		}
		tb.await(`new URLSearchParams(location.hash.slice(1)).get("color") === "argument file"`)
	})
}
