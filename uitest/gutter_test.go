package uitest

import (
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// TestGutter: the column of names is as wide as it was dragged or moved to, and what is drawn
// beside it follows.
func TestGutter(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		was, left := tb.box(".gutter"), tb.box(canvas).X
		tb.check(tb.Drag(was.X+2, was.Y+5, was.X+102, was.Y+5))
		tb.settle()
		if x := tb.box(canvas).X; x < left+95 || x > left+105 {
			t.Errorf("100 px to the right the rows begin at %v, before at %v", x, left)
		}
		for _, c := range []string{"#minimap canvas", "#heart canvas"} {
			if x, y := tb.box(c).X, tb.box(canvas).X; x != y {
				t.Errorf("%s begins at %v, the rows at %v", c, x, y)
			}
		}
		tb.read(nil, `document.querySelector(".gutter").focus()`)
		left = tb.box(canvas).X
		tb.press("ArrowLeft", "ArrowLeft")
		if x := tb.box(canvas).X; x != left-40 {
			t.Errorf("two steps to the left lead from %v to %v", left, x)
		}
		faultless(t, tb, "other widths")
	})
}
