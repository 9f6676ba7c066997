package uitest

import (
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

const axe = "node_modules/axe-core/axe.min.js"

// The rules that axe-core checks: all, or those about colours.
const (
	allRules   = `{}`
	colorRules = `{runOnly: ["color-contrast", "link-in-text-block"]}`
)

// TestAccessible runs axe-core over every state of the page, in the light and in
// the dark, where only the colours differ.
func TestAccessible(t *testing.T) {
	browsers(t, func(t *testing.T) {
		source, err := os.ReadFile(axe)
		if err != nil {
			t.Skip("no axe-core from npm; make deps installs it")
		}
		for _, dark := range []bool{false, true} {
			t.Run(map[bool]string{false: "light", true: "dark"}[dark], func(t *testing.T) {
				rules := map[bool]string{false: allRules, true: colorRules}[dark]
				tb := showTrace(t, contendedTrace(t), browser.View{Dark: dark})
				tb.read(nil, "%s", string(source)+";0")
				obeys(t, tb, rules, "first sight")
				tb.search(traces.Want)
				tb.press("Enter", "Tab")
				obeys(t, tb, rules, "a scope selected")
				for i, panel := range []string{"Details", "Flame", "About", "Doctor", "Advice", "Functions", "Callers", "Source", "Executions", "Summary"} {
					tb.press([]string{"Digit1", "Digit3", "Digit9", "Digit7", "Digit8", "Digit4", "Digit5", "Digit6", "KeyV", "Digit2"}[i])
					obeys(t, tb, rules, panel)
				}
				tb.check(tb.Press("Slash", browser.Shift))
				tb.settle()
				obeys(t, tb, rules, "the keys")
				tb.press("Escape")
				tb.check(tb.Press("KeyT", browser.Shift))
				tb.settle()
				obeys(t, tb, rules, "the text table")
			})
		}
	})
}

// faultless checks all rules in a state of the page.
func faultless(t *testing.T, tb *tab, state string) {
	t.Helper()
	obeys(t, tb, allRules, state)
}

// obeys checks rules in a state of the page.
func obeys(t *testing.T, tb *tab, rules, state string) {
	t.Helper()
	source, err := os.ReadFile(axe)
	if err != nil {
		t.Log("no axe-core from npm; make deps installs it")
		return
	}
	var there bool
	if tb.read(&there, "typeof axe !== 'undefined'"); !there {
		tb.read(nil, "%s", string(source)+";0")
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	tb.read(&found, `axe.run(document, {resultTypes: ["violations"], ...%s}).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical"))`, rules)
	for _, f := range found {
		var where []string
		for _, n := range f.Nodes[:min(3, len(f.Nodes))] {
			where = append(where, n.HTML+": "+strings.Join(strings.Fields(n.FailureSummary), " "))
		}
		t.Errorf("%s: %s (%s, %s) at %d places: %.600q", state, f.Help, f.ID, f.Impact, len(f.Nodes), where)
	}
}

// TestTextForScreenReaders: what is in sight is there as a text table too.
func TestTextForScreenReaders(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.check(tb.Press("KeyT", browser.Shift))
	tb.settle()
	says(t, tb, "main", traces.Holder, traces.Lock, "worker 1")
}

// TestTwiceAsLarge: at 200 % zoom a window of this size has half as many CSS
// pixels each way; everything is still there and within reach.
func TestTwiceAsLarge(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{Width: browser.Width / 2, Height: browser.Height / 2, Scale: 2})
	for _, id := range []string{"#heart", "#minimap", "#ruler", "#rows", "#panel", "#search"} {
		b := tb.box(id)
		if b.Width < 50 || b.Height < 10 || b.X < 0 || b.X+b.Width > browser.Width/2+1 || b.Y+b.Height > browser.Height/2+1 {
			t.Errorf("%s is at %+v of a window of %d × %d", id, b, browser.Width/2, browser.Height/2)
		}
	}
	if b := tb.box("#rows"); b.Height < 80 {
		t.Errorf("the rows have %v px", b.Height)
	}
	if n := tb.number("document.documentElement.scrollWidth"); n > browser.Width/2 {
		t.Errorf("the page is %v px wide: it scrolls sideways", n)
	}
	job := tb.find(traces.Parent, "")
	x, y := tb.seek(job.Start+job.Dur/2, traces.Parent)
	tb.check(tb.Click(x, y))
	tb.settle()
	if tb.selected() == nil {
		t.Error("a click selects nothing")
	}
}

// TestTheme: the page is dark where the system is, and has a switch.
func TestTheme(t *testing.T) {
	browsers(t, func(t *testing.T) {
		html := fileURL(pageOf(t, storeTrace(t)))
		background := func(tb *tab) (light float64) {
			tb.read(&light, `(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number); return (r + g + b) / 3; })()`)
			return light
		}
		light := show(t, html, browser.View{})
		if b := background(light); b < 200 {
			t.Errorf("in the light the background is %v", b)
		}
		dark := show(t, html, browser.View{Dark: true})
		if b := background(dark); b > 60 {
			t.Errorf("in the dark the background is %v", b)
		}
		dark.press("KeyT")
		if b := background(dark); b < 200 {
			t.Errorf("t does not make it light: the background is %v", b)
		}
		light.check(light.See(browser.View{Dark: true}))
		light.settle()
		if b := background(light); b > 60 {
			t.Errorf("the page does not follow the system into the dark: the background is %v", b)
		}
	})
}
