package uitest

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// slowAnswers delays what a page waits for by as many ms as slow says: answers of the server, and each turn of a long
// computation, of which every step is one.
const slowAnswers = `
window.slow = 0;
const later = (f) => (window.slow > 0 ? setTimeout(f, window.slow) : f());
const fetchNow = window.fetch.bind(window);
window.fetch = (...asked) => new Promise((done, failed) => later(() => fetchNow(...asked).then(done, failed)));
const now = performance.now.bind(performance);
let ahead = 0;
performance.now = () => now() + (window.slow > 0 ? ahead += 20 : ahead);
window.MessageChannel = class {
	constructor() {
		this.port1 = { onmessage: null, close() {} };
		this.port2 = { postMessage: () => later(() => setTimeout(() => this.port1.onmessage?.())) };
	}
};
`

// showSlow opens a page whose answers can be delayed.
func showSlow(t *testing.T, address string) *tab {
	t.Helper()
	tb := openBut(t, address, browser.View{}, nil, slowAnswers)
	tb.check(tb.Eval(helpers, nil))
	tb.await(`document.documentElement.dataset.ready === "true"`)
	tb.settle()
	return tb
}

// TestNeverFalse: from the moment in which a panel's head asks for another range until its answer is there, the place of
// the answer shows that it is not known, and no number of the answer before.
func TestNeverFalse(t *testing.T) {
	browsers(t, func(t *testing.T) {
		trace := storeTrace(t)
		for home, address := range map[string]string{"file": fileURL(pageOf(t, trace)), "served": serve(t, trace)} {
			t.Run(home, func(t *testing.T) {
				tb := showSlow(t, address)
				end := tb.number("scopeview.model.end")
				for _, view := range []struct{ tab, body string }{
					{"summary", "#view-summary .tables"}, {"flame", "#view-flame .icicle"}, {"runs", "#view-runs .columns"},
				} {
					tb.read(nil, `window.slow = 0, scopeview.setRange(null), scopeview.showRuns("parse"), scopeview.showTab(%s), 0`, quote(view.tab))
					tb.await(`document.querySelector(%s)?.innerText.trim() && !document.querySelector("#panel .pending")`, quote(view.body))
					before := tb.text(view.body)
					tb.read(nil, "window.slow = 3000, scopeview.setRange({from: %v, to: %v}), 0", end/4, end/3)
					for range 3 {
						if now := strings.TrimSpace(tb.text(view.body)); now != "" {
							t.Errorf("%s: while the range is counted the panel says %.60q", view.tab, now)
						}
						tb.settle()
					}
					tb.read(nil, "window.slow = 0, 0")
					tb.await(`document.querySelector(%s)?.innerText.trim() && !document.querySelector("#panel .pending")`, quote(view.body))
					if now := tb.text(view.body); now == before {
						t.Errorf("%s: the range has the numbers of the whole trace: %.60q", view.tab, now)
					}
				}
			})
		}
	})
}

// TestCompareIsNotFalse: while two traces are compared no table says that there is nothing.
func TestCompareIsNotFalse(t *testing.T) {
	before, after := builds(t)
	tb := showSlow(t, fileURL(pageOf(t, before, "--with", after))+"#tab=summary")
	tb.read(nil, `window.slow = 3000, scopeview.showTab("compare"), 0`)
	for range 3 {
		if s := tb.text("#view-compare"); strings.Contains(s, "No scope ended") || strings.Contains(s, "No findings") {
			t.Errorf("it says %.100q", s)
		}
		tb.settle()
	}
	tb.read(nil, "window.slow = 0, 0")
	tb.await(`document.querySelector("#view-compare tbody tr") && !document.querySelector("#panel .pending")`)
}

// TestStatesAreAwaited: the strips of a served trace are hatched where their states are not loaded yet, and say so.
func TestStatesAreAwaited(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showSlow(t, serve(t, oftenPathOf(t)))
		tb.await("scopeview.model.waits.any")
		v := tb.view()
		tb.read(nil, "scopeview.setView(%v, %v), 0", v.From, v.From+v.width()/50)
		tb.await("scopeview.drawn.awaited === 0 && !scopeview.model.waits.busy")
		tb.read(nil, "window.slow = 3000, scopeview.setView(%v, %v), 0", v.From+v.width()/2, v.From+v.width()*52/100)
		tb.await("scopeview.drawn.awaited > 0")
		tb.read(nil, "window.slow = 0, 0")
		tb.await("scopeview.drawn.awaited === 0 && scopeview.drawn.states > 0")
	})
}

// oftenPathOf returns the trace with states.
func oftenPathOf(t *testing.T) string {
	t.Helper()
	diagnosed(t)
	return oftenPath()
}
