package uitest

import (
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

func TestWheel(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		b := tb.box(canvas)
		x, y := math.Round(b.X+b.Width*0.7), math.Round(b.Y+40) // a wheel has whole pixels in Firefox
		under := func() float64 {
			v := tb.view()
			return v.From + (x-b.X)/b.Width*v.width()
		}
		whole, anchor := tb.view(), under()
		for _, turn := range []float64{-240, -240, -120, 120} {
			before := tb.view()
			tb.check(tb.Wheel(x, y, 0, turn, browser.Ctrl))
			tb.settle()
			v := tb.view()
			if (v.width() < before.width()) != (turn < 0) {
				t.Errorf("Ctrl+wheel by %v: %v, then %v", turn, before, v)
			}
			if off := (under() - anchor) / v.width() * b.Width; math.Abs(off) > 1 {
				t.Errorf("Ctrl+wheel by %v moves what is under the pointer by %.1f px", turn, off)
			}
		}
		near := tb.view()
		if near.width() >= whole.width() {
			t.Fatalf("Ctrl+wheel does not zoom in: %v, then %v", whole, near)
		}
		tb.check(tb.Wheel(x, y, 0, 120, browser.Shift))
		if v := tb.view(); v.From <= near.From || !like(v.width(), near.width()) {
			t.Errorf("Shift+wheel does not move right: %v, then %v", near, v)
		}
		was := tb.view()
		tb.check(tb.Wheel(x, y, 0, 60))
		if v := tb.view(); v != was {
			t.Errorf("the wheel alone moves in time: %v, then %v", was, v)
		}
	})
}

func TestDragSelectsARange(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		b, v := tb.box(canvas), tb.view()
		x0, x1, y := b.X+b.Width*0.25, b.X+b.Width*0.5, b.Y+b.Height-8
		tb.check(tb.Drag(x0, y, x1, y))
		tb.settle()
		var r *span
		tb.read(&r, "scopeview.range && ({from: scopeview.range.from, to: scopeview.range.to})")
		pixel := v.width() / b.Width
		if r == nil || math.Abs(r.From-(v.From+v.width()*0.25)) > 3*pixel || math.Abs(r.To-(v.From+v.width()*0.5)) > 3*pixel {
			t.Fatalf("dragging over the second quarter of %v selects %v", v, r)
		}
		if is := tb.view(); is != v {
			t.Errorf("dragging moved the view from %v to %v", v, is)
		}
		var want string
		tb.read(&want, "scopeview.span(%v)", r.width())
		if s := tb.text("#panel"); !strings.Contains(s, want) {
			t.Errorf("the panel does not say how long the range is, %s: %q", want, s)
		}
		if rows := tb.table("#panel").Rows; len(rows) == 0 {
			t.Error("the range's table is empty")
		}
		tb.press("Escape")
		tb.await("!scopeview.range")
	})
}

func TestPopupAndDetails(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		long := tb.find("parse", traces.Longest)
		x, y := tb.seek(long.Start+long.Dur/2, traces.Longest)
		says := tb.popup()
		var dur string
		tb.read(&dur, "scopeview.span(%v)", long.Dur)
		for _, want := range []string{"parse", traces.Longest, dur, long.Row, traces.Parent, "CPU", "self", "start", "thread"} {
			if !strings.Contains(says, want) {
				t.Errorf("the pop-up does not say %q: %q", want, says)
			}
		}
		tb.check(tb.Click(x, y))
		tb.settle()
		if s := tb.selected(); s == nil || s.Name != "parse" || s.Start != long.Start {
			t.Fatalf("the click selects %+v, want the parse of %s", s, traces.Longest)
		}
		panel := tb.text("#panel")
		for _, want := range []string{"parse", traces.Longest, dur, traces.Parent, "lex"} {
			if !strings.Contains(panel, want) {
				t.Errorf("the panel does not say %q: %q", want, panel)
			}
		}
		tb.check(tb.DoubleClick(x, y))
		if v := tb.view(); v.width() > 3*long.Dur || v.From > long.Start {
			t.Errorf("a double click on a scope of %v ns from %v shows %v", long.Dur, long.Start, v)
		}
		wait := tb.find(traces.Lock, "")
		tb.press("Digit0")
		tb.seek(wait.Start+wait.Dur/2, traces.Lock)
	})
}

func TestHeartValuesOnHover(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	b := tb.box("#heart canvas")
	before := tb.text("#heart")
	tb.check(tb.Point(b.X+b.Width/2, b.Y+b.Height/2))
	tb.settle()
	if after := tb.text("#heart"); after == before || !strings.Contains(after, "user") {
		t.Errorf("hovering over the heartbeat shows no values: %q", after)
	}
}

// TestFlagLeadsToMark: a mark's flag on the time axis has its name, and a click on it shows
// the marked time; a drag that begins there selects a range, as anywhere.
func TestFlagLeadsToMark(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		tb.read(nil, "scopeview.zoomAt(scopeview.model.end / 2, 0.3)")
		v := tb.view()
		moment, from, to := v.From+v.width()*0.2, v.From+v.width()*0.5, v.From+v.width()*0.6
		tb.read(nil, `(scopeview.putMark({from: %v, to: %v, name: "begin"}), scopeview.putMark({from: %v, to: %v, name: ""}), 0)`, moment, moment, from, to)
		tb.settle()
		b := tb.box(".ruler canvas")
		title := func(ns float64) (says string) {
			tb.check(tb.Point(tb.xOf(ns), b.Y+5))
			tb.settle()
			tb.read(&says, `document.querySelector(".ruler canvas").title`)
			return says
		}
		if says := title(moment); !strings.HasPrefix(says, "begin, at ") {
			t.Errorf("over the flag of the mark begin the axis says %q", says)
		}
		if says := title(v.From + v.width()*0.8); says != "" {
			t.Errorf("where no flag is the axis says %q", says)
		}
		tb.check(tb.Drag(tb.xOf(moment), b.Y+5, tb.xOf(moment)+50, b.Y+5))
		if is := tb.view(); is != v || tb.number("scopeview.range ? 1 : 0") == 0 {
			t.Errorf("a drag from a flag moves the view from %v to %v, or selects no range", v, is)
		}
		tb.read(nil, "(scopeview.setRange(null), 0)")
		tb.check(tb.Click(tb.xOf(moment), b.Y+5))
		if is := tb.view(); !like(is.width(), v.width()) || math.Abs((is.From+is.To)/2-moment) > 0.01*is.width() {
			t.Errorf("a click on the flag at %v shows %v", moment, is)
		}
		tb.check(tb.Click(tb.xOf(to), b.Y+5))
		if is := tb.view(); is.From > from || is.To < to || is.width() > 1.5*(to-from) {
			t.Errorf("a click on the end of the marked stretch from %v to %v shows %v", from, to, is)
		}
		if tb.number("scopeview.range ? 1 : 0") == 1 {
			t.Error("a click on the axis selects a range")
		}
	})
}
