package uitest

import (
	"math"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// touched is a page that fingers point at, and where its bars are drawn.
func touched(t *testing.T, address string) (*tab, *box) {
	t.Helper()
	tb := show(t, address, browser.View{Touch: true})
	return tb, tb.box(canvas)
}

// timeAt is the moment at a place of the window.
func (v span) timeAt(b *box, x float64) float64 { return v.From + (x-b.X)/b.Width*v.width() }

// TestPinch: two fingers zoom around the point between them, which they may take along.
func TestPinch(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb, b := touched(t, fileURL(pageOf(t, storeTrace(t))))
		y := b.Y + 60
		for _, pinch := range []struct{ x0, apart0, x1, apart1, factor float64 }{
			{0.4, 100, 0.4, 400, 4}, {0.4, 100, 0.6, 200, 2}, {0.5, 300, 0.5, 100, 1. / 3},
		} {
			hand := func(x, apart float64) []browser.Spot {
				x = b.X + x*b.Width
				return []browser.Spot{{X: x - apart/2, Y: y}, {X: x + apart/2, Y: y}}
			}
			was := tb.view()
			tb.check(tb.Slide(hand(pinch.x0, pinch.apart0), hand(pinch.x1, pinch.apart1)))
			tb.check(tb.Fingers())
			is := tb.view()
			if f := was.width() / is.width(); math.Abs(f/pinch.factor-1) > 0.01 {
				t.Errorf("fingers %v px apart that go to %v: the view is %.3f times as near", pinch.apart0, pinch.apart1, f)
			}
			before, after := was.timeAt(b, b.X+pinch.x0*b.Width), is.timeAt(b, b.X+pinch.x1*b.Width)
			if math.Abs(after-before) > 0.01*is.width() {
				t.Errorf("%v: the moment between the fingers was %v, and is %v", pinch, before, after)
			}
		}
		if s := tb.selected(); s != nil {
			t.Errorf("the fingers selected %+v", s)
		}
	})
}

// TestFingerMovesTheView: in time and over the rows. It stays, when one of two is lifted.
func TestFingerMovesTheView(t *testing.T) {
	browsers(t, func(t *testing.T) {
		address, err := handlers()
		if err != nil {
			t.Fatal(err)
		}
		tb, b := touched(t, address)
		tb.read(nil, `scopeview.toggleRow("opened", %s); scopeview.zoomAt(scopeview.model.end / 2, 0.1)`, group)
		was := tb.view()
		from, to := browser.Spot{X: b.X + 500, Y: b.Y + b.Height - 30}, browser.Spot{X: b.X + 300, Y: b.Y + b.Height - 110}
		tb.check(tb.Slide([]browser.Spot{from}, []browser.Spot{to}))
		is := tb.view()
		if want := 200 / b.Width * was.width(); math.Abs(is.From-was.From-want) > 0.01*was.width() || !like(is.width(), was.width()) {
			t.Errorf("a finger that goes 200 px to the left moves %v to %v, want by %v", was, is, want)
		}
		if top := tb.number(`document.getElementById("rows").scrollTop`); top != 80 {
			t.Errorf("a finger that goes up 80 px scrolls the rows by %v", top)
		}
		tb.check(tb.Fingers(to, from))
		tb.check(tb.Fingers(to))
		if v := tb.view(); v != is {
			t.Errorf("a second finger that only comes and goes moves %v to %v", is, v)
		}
		tb.check(tb.Fingers())
		if s := tb.number("scopeview.chosenRow === '' ? 0 : 1"); s != 0 || tb.selected() != nil {
			t.Error("a finger that moved the view has selected something")
		}
	})
}

// TestTaps: a tap selects, or clears; two zoom to what they are on.
func TestTaps(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb, b := touched(t, fileURL(pageOf(t, storeTrace(t))))
		long := tb.find("parse", traces.Longest)
		x, y := tb.seek(long.Start+long.Dur/2, traces.Longest)
		tb.check(tb.Tap(x, y, 1))
		tb.await("test.selected()?.start === %v", long.Start)
		if v := tb.view(); v.width() < 3*long.Dur {
			t.Errorf("one tap zooms, to %v", v)
		}
		tb.await(`document.getElementById("panel").classList.contains("grown")`)
		tb.settle()
		b = tb.box(canvas)
		tb.check(tb.Tap(x, b.Y+b.Height-8, 1)) // on a counter
		tb.await("!scopeview.selection")
		tb.check(tb.Tap(x, y, 2))
		tb.await("test.selected()?.start === %v", long.Start)
		if v := tb.view(); v.width() > 3*long.Dur || v.From > long.Start {
			t.Errorf("two taps on a scope of %v ns from %v show %v", long.Dur, long.Start, v)
		}
	})
}

// TestLongPress: a finger that rests and then moves selects an area, and not before.
func TestLongPress(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb, b := touched(t, fileURL(pageOf(t, storeTrace(t))))
		v := tb.view()
		at := func(x float64) browser.Spot { return browser.Spot{X: b.X + x*b.Width, Y: b.Y + b.Height - 8} }
		tb.check(tb.Fingers(at(0.25)))
		tb.await(`document.getElementById("live").textContent === "drag to select a range"`)
		tb.check(tb.Slide([]browser.Spot{at(0.25)}, []browser.Spot{at(0.5)}))
		tb.check(tb.Fingers())
		tb.settle()
		var r *span
		tb.read(&r, "scopeview.range && ({from: scopeview.range.from, to: scopeview.range.to})")
		near := 6 * v.width() / b.Width // a range takes the next bar's end
		if r == nil || math.Abs(r.From-v.timeAt(b, at(0.25).X)) > near || math.Abs(r.To-v.timeAt(b, at(0.5).X)) > near {
			t.Errorf("a long press and a drag over the second quarter of %v select %v", v, r)
		}
		if is := tb.view(); is != v {
			t.Errorf("it moved the view from %v to %v", v, is)
		}
	})
}

// TestRoomForFingers: what fingers take hold of is wide enough, and works.
func TestRoomForFingers(t *testing.T) {
	tb, b := touched(t, fileURL(pageOf(t, storeTrace(t))))
	tb.await(`matchMedia("(pointer: coarse)").matches`)
	tb.read(nil, "(scopeview.setRange({from: %v, to: %v}), 0)", tb.view().timeAt(b, b.X+200), tb.view().timeAt(b, b.X+400))
	tb.settle()
	var low []string
	tb.read(&low, `[...document.querySelectorAll("button, select, summary")].filter((e) => e.checkVisibility() && !e.closest("#rows") && e.getBoundingClientRect().height < 24).map((e) => e.outerHTML)`)
	if len(low) > 0 {
		t.Errorf("they are less than 24 px high: %q", low)
	}
	for _, hold := range []string{".handle", ".gutter", "#divider"} {
		var missed []float64
		tb.read(&missed, `(() => {
			const e = document.querySelector(%s), r = e.getBoundingClientRect();
			return [-7, 7].filter((d) => e !== (r.width < r.height
				? document.elementFromPoint((r.left + r.right) / 2 + d, (r.top + r.bottom) / 2)
				: document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2 + d)));
		})()`, quote(hold))
		if len(missed) > 0 {
			t.Errorf("a finger that is %v px from the middle of %s does not touch it", missed, hold)
		}
	}
	divider, map0 := tb.box("#divider"), tb.box("#minimap canvas")
	tb.check(tb.Slide([]browser.Spot{{X: 500, Y: divider.Y + 8}}, []browser.Spot{{X: 500, Y: divider.Y - 52}}))
	tb.check(tb.Fingers())
	if is := tb.box("#divider"); math.Abs(is.Y-(divider.Y-60)) > 5 {
		t.Errorf("a finger drags the divider from %v by 60 px to %v", divider.Y, is.Y)
	}
	tb.read(nil, "scopeview.zoomAt(scopeview.model.end / 2, 0.2)")
	was := tb.view()
	middle := map0.X + map0.Width/2
	tb.check(tb.Slide([]browser.Spot{{X: middle, Y: map0.Y + 10}}, []browser.Spot{{X: middle + 100, Y: map0.Y + 10}}))
	tb.check(tb.Fingers())
	if is := tb.view(); is.From <= was.From {
		t.Errorf("a finger on the map leaves %v at %v", was, is)
	}
	faultless(t, tb, "for fingers")
}
