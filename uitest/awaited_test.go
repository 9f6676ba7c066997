package uitest

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// heldAnswers holds what a page asks the server for in its tabs, until release is called.
const heldAnswers = `
{
	const fetchNow = window.fetch.bind(window);
	const hold = () => { window.held = new Promise((done) => { window.release = done; }); };
	window.fetch = async (...asked) => {
		if (/api\/(doctor|advice|samples)/.test(asked[0])) await window.held;
		return fetchNow(...asked);
	};
	window.holdAgain = hold;
	hold();
}
`

// awaitedTabs are the tabs whose contents come from the server, with the text and the elements of an answer.
var awaitedTabs = []struct{ tab, answer, known string }{
	{"functions", "#view-functions table", `document.querySelectorAll("#view-functions tbody tr").length > 3`},
	{"callers", "#view-callers table, #view-callers .box", `document.querySelectorAll("#view-callers .box").length > 2`},
	{"source", "#view-source tbody tr", `document.querySelector("#view-source tr.hot")`},
	{"doctor", "#view-doctor .findings li, #view-doctor table", `document.querySelector("#view-doctor table")`},
	{"advice", "#view-advice tbody tr", `document.querySelector("#view-advice").innerText.includes("scopeview run --advise")`},
}

// anyInSight returns whether one of the elements is in sight, on a page that is in the foreground.
func (tb *tab) anyInSight(selector string) (is bool) {
	tb.t.Helper()
	tb.read(&is, `[...document.querySelectorAll(%s)].some((e) => e.checkVisibility({ visibilityProperty: true }))`, quote(selector))
	return is
}

// TestTabsAwaitTheirAnswer: until the server has answered a tab it shows that it does not know, and neither that there is
// nothing nor any number.
func TestTabsAwaitTheirAnswer(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := openBut(t, serve(t, slowTrace(t)), browser.View{}, nil, heldAnswers)
		tb.check(tb.Eval(helpers, nil))
		tb.await(`document.documentElement.dataset.ready === "true"`)
		if s := tb.seen("#first .text"); s != "" {
			t.Errorf("while the doctor is asked the first line says %q", s)
		}
		await := func(when string) {
			t.Helper()
			for _, c := range awaitedTabs {
				tb.read(nil, `scopeview.showFunc("", "callers"), scopeview.showTab(%s), 0`, quote(c.tab))
				for range 3 {
					if says := tb.seen("#view-" + c.tab); tb.anyInSight(c.answer) || anyOf(says, "No advice", "no raw file", "no samples", "Nothing found", "No finding", "finding", "Not examined", "No entries", "not in this page") {
						t.Errorf("%s: before its answer is there %s says %.200q", when, c.tab, says)
					}
					tb.settle()
				}
			}
		}
		await("at first")
		tb.read(nil, "release(), 0")
		for _, c := range awaitedTabs {
			tb.read(nil, `scopeview.showTab(%s), 0`, quote(c.tab))
			tb.await("%s", c.known)
		}
		// The doctor is asked again: its head does not keep the number of findings.
		tb.read(nil, `holdAgain(), scopeview.showTab("doctor"), [...document.querySelectorAll("#view-doctor button")].find((b) => b.textContent === "examine again").click()`)
		for range 3 {
			if says := tb.seen("#view-doctor"); tb.anyInSight(awaitedTabs[3].answer) || anyOf(says, "finding", "Examined") {
				t.Errorf("while the doctor examines again its tab says %.200q", says)
			}
			if s := tb.seen("#first .text"); s != "" {
				t.Errorf("while the doctor examines again the first line says %q", s)
			}
			tb.settle()
		}
		tb.read(nil, "release(), 0")
		tb.await(`document.querySelector("#view-doctor").innerText.includes("Examined") && %s`, awaitedTabs[3].known)
	})
}

// TestFunctionsOfAnotherRange: from the moment in which the head of a tab asks for another range, no number of the one
// before is in sight.
func TestFunctionsOfAnotherRange(t *testing.T) {
	browsers(t, func(t *testing.T) {
		trace := slowTrace(t)
		for home, address := range map[string]string{"file": fileURL(pageOf(t, trace)), "served": serve(t, trace)} {
			t.Run(home, func(t *testing.T) {
				tb := show(t, address, browser.View{})
				burn := tb.find("burn", "")
				for _, c := range awaitedTabs[:3] {
					tb.read(nil, `scopeview.setRange(null), scopeview.showFunc(%s, "callers"), scopeview.showTab(%s), 0`, quote("github.com/scopeview/scopeview/uitest/"+traces.Spin), quote(c.tab))
					tb.await("%s", c.known)
					before := tb.text("#view-" + c.tab)
					const inSight = `[...document.querySelectorAll(%s)].filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.innerText).join(" ")`
					var now, then string
					tb.read(&now, `(() => {
						for (const part of [5, 4, 3]) scopeview.setRange({ from: %f, to: %f + %f / part });
						return `+inSight+`;
					})()`, burn.Start, burn.Start, burn.Dur, quote(c.answer))
					tb.await(`!Array.from(document.querySelectorAll("#panel .pending")).some((e) => e.checkVisibility())`)
					tb.await("document.querySelector(%s).innerText !== %s", quote("#view-"+c.tab), quote(before))
					tb.read(&then, inSight, quote(c.answer))
					if now != "" && now != then { // it may have its answer at once
						t.Errorf("%s: in another range stands %.200q, and then %.200q", c.tab, now, then)
					}
				}
			})
		}
	})
}

// anyOf reports whether a text has one of the parts.
func anyOf(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
