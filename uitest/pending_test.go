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
performance.now = () => now() + (window.slow > 0 ? ahead += 20 : ahead); // each slice is over at once
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

// seen returns the text of an element as it is seen; "" while it is hidden.
func (tb *tab) seen(selector string) (s string) {
	tb.t.Helper()
	tb.read(&s, `(() => { const e = document.querySelector(%s); return e?.checkVisibility() ? e.innerText.trim() : ""; })()`, quote(selector))
	return s
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
					{"summary", "#view-summary .tables"}, {"flame", "#view-flame .icicle:not(:empty)"}, {"runs", "#view-runs .columns"},
				} {
					tb.read(nil, `window.slow = 0, scopeview.setRange(null), scopeview.showRuns("parse"), scopeview.showTab(%s), 0`, quote(view.tab))
					tb.await(`document.querySelector(%s)?.innerText.trim() && !Array.from(document.querySelectorAll("#panel .pending")).some((e) => e.checkVisibility())`, quote(view.body))
					before := tb.text(view.body)
					tb.read(nil, "window.slow = 3000, scopeview.setRange({from: %v, to: %v}), 0", end/4, end/3)
					var meanwhile []string
					for range 3 {
						if now := tb.seen(view.body); now != "" {
							meanwhile = append(meanwhile, now)
						}
						tb.settle()
					}
					tb.read(nil, "window.slow = 0, 0")
					tb.await(`document.querySelector(%s)?.innerText.trim() && !Array.from(document.querySelectorAll("#panel .pending")).some((e) => e.checkVisibility())`, quote(view.body))
					if now := tb.text(view.body); now == before {
						t.Errorf("%s: the range has the numbers of the whole trace: %.60q", view.tab, now)
					}
					for _, seen := range meanwhile { // an answer that needs a single step is there at once
						if now := tb.seen(view.body); seen != now {
							t.Errorf("%s: while the range is counted the panel says %.60q, and then %.60q", view.tab, seen, now)
						}
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
		if s := tb.text("#view-compare"); strings.Contains(s, "No scope ended") {
			t.Errorf("it says %.100q", s)
		}
		tb.settle()
	}
	tb.read(nil, "window.slow = 0, 0")
	tb.await(`document.querySelector("#view-compare tbody tr") && !Array.from(document.querySelectorAll("#panel .pending")).some((e) => e.checkVisibility())`)
}
