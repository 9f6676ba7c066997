package uitest

import (
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

func TestKeysMoveTheView(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		whole := tb.view()
		tb.press("KeyW", "KeyW")
		near := tb.view()
		if near.width() >= whole.width()*0.9 {
			t.Fatalf("w does not zoom in: %v, then %v", whole, near)
		}
		tb.press("KeyD")
		if v := tb.view(); v.From <= near.From || !like(v.width(), near.width()) {
			t.Errorf("d does not move right: %v, then %v", near, v)
		}
		tb.press("KeyA")
		if v := tb.view(); !like(v.From, near.From) {
			t.Errorf("a does not move back left: %v, then %v", near, v)
		}
		tb.press("KeyS")
		if v := tb.view(); v.width() <= near.width() {
			t.Errorf("s does not zoom out: %v, then %v", near, v)
		}
		tb.press("Digit0")
		if v := tb.view(); v != whole {
			t.Errorf("0 shows %v, want all of %v", v, whole)
		}
		// Where W is on an English keyboard a French one has Z.
		tb.check(tb.PressAs("KeyW", "z"))
		if v := tb.view(); v.width() >= whole.width() {
			t.Error("keys do not go by where they are on the keyboard")
		}
		tb.press("Digit0")
		tb.check(tb.Press("KeyW", browser.Shift))
		fast := tb.view()
		tb.press("Digit0", "KeyW")
		if v := tb.view(); fast.width() >= v.width() {
			t.Errorf("Shift+w zooms to %v, no faster than w to %v", fast, v)
		}
	})
}

func like(a, b float64) bool { return math.Abs(a-b) <= 0.01*math.Max(math.Abs(a), math.Abs(b))+1 }

func TestKeysSelect(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		job := tb.find(traces.Parent, `"number":3`)
		x, y := tb.seek(job.Start+job.Dur/2, traces.Parent)
		tb.check(tb.Click(x, y))
		tb.settle()
		first := tb.selected()
		if first == nil {
			t.Fatal("a click on a bar selects nothing")
		}
		steps := []struct {
			key  string
			want func(was, is *scope) bool
		}{
			{"Period", func(was, is *scope) bool { return is.Start > was.Start }},
			{"Comma", func(_, is *scope) bool { return is.Start == first.Start && is.Name == first.Name }},
			{"ArrowRight", func(was, is *scope) bool { return is.Start > was.Start }},
			{"ArrowLeft", func(_, is *scope) bool { return is.Start == first.Start && is.Name == first.Name }},
			{"ArrowDown", func(was, is *scope) bool { return is.Start >= was.Start && is.Dur < was.Dur && is.Name != was.Name }},
			{"ArrowUp", func(_, is *scope) bool { return is.Start == first.Start && is.Name == first.Name }},
			{"BracketRight", func(was, is *scope) bool { return is.Name == was.Name && is.Start >= was.Start && *is != *was }},
			{"BracketLeft", func(_, is *scope) bool { return is.Start == first.Start && is.Name == first.Name }},
		}
		for _, s := range steps {
			was := tb.selected()
			tb.press(s.key)
			if is := tb.selected(); is == nil || !s.want(was, is) {
				t.Errorf("%s goes from %+v to %+v", s.key, was, is)
			}
		}
		tb.press("KeyF")
		if v, s := tb.view(), tb.selected(); v.width() > 20*s.Dur || v.From > s.Start || v.To < s.Start+s.Dur {
			t.Errorf("f shows %v, want the selected scope of %v ns", v, s.Dur)
		}
		tb.press("KeyM")
		if n := tb.number("scopeview.marks.length"); n == 0 {
			t.Error("m makes no mark")
		}
		tb.press("Escape")
		if s := tb.selected(); s != nil {
			t.Errorf("Escape leaves %+v selected", s)
		}
	})
}

func TestHelp(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.check(tb.Press("Slash", browser.Shift))
	tb.await("document.querySelector('dialog[open]')")
	if s := tb.text("dialog[open]"); !strings.Contains(s, "zoom in") {
		t.Errorf("? shows %q", s)
	}
	tb.press("Escape")
	tb.await("!document.querySelector('dialog[open]')")
}

// TestByKeysAlone: without a mouse, a user can find the longest parse, its parent, and what
// else ran at the time.
func TestByKeysAlone(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.press("Slash")
	tb.check(tb.Type("parse"))
	tb.press("Enter", "Escape")
	if s := tb.selected(); s == nil || s.Name != "parse" {
		// Escape may have cleared it with the search: Enter alone has to do.
		tb.press("Slash")
		tb.check(tb.Type("parse"))
		tb.press("Enter")
		if s = tb.selected(); s == nil || s.Name != "parse" {
			t.Fatalf("search and Enter selects %+v, want a parse", s)
		}
		tb.press("Tab")
	}
	tb.press("KeyL")
	long := tb.selected()
	if long == nil || long.Name != "parse" || !strings.Contains(long.Args, traces.Longest) {
		t.Fatalf("l selects %+v, want the longest parse, of %s", long, traces.Longest)
	}
	tb.press("ArrowUp")
	parent := tb.selected()
	if parent == nil || parent.Name != traces.Parent || parent.Start > long.Start || parent.Dur < long.Dur {
		t.Fatalf("up selects %+v, want the job around the parse", parent)
	}
	tb.press("KeyR")
	var r *span
	tb.read(&r, "scopeview.range && ({from: scopeview.range.from, to: scopeview.range.to})")
	if r == nil || !like(r.From, parent.Start) || !like(r.width(), parent.Dur) {
		t.Fatalf("r makes %v the range, want the job's", r)
	}
	tb.press("Digit2")
	v := tb.table("#panel")
	name, count := v.column(t, "name"), v.column(t, "count")
	found := false
	for _, row := range v.Rows {
		found = found || row[name] == "parse" && row[count] != "0"
	}
	if !found {
		t.Errorf("the table of the range %q has no parse: %v", v.Caption, v.Rows)
	}
}
