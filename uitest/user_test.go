package uitest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/long"
	"github.com/scopeview/scopeview/uitest/browser"
)

// mostActions is the number of actions that a task of the timeline may take.
const mostActions = 3

// user does with a page what a person does. Each click, drag and key is an action, and so is a text with Enter.
type user struct {
	*tab
	home string // the address without a view
	acts []string
}

// act counts an action.
func (u *user) act(format string, args ...any) {
	u.t.Helper()
	u.acts = append(u.acts, fmt.Sprintf(format, args...))
	if len(u.acts) > mostActions {
		u.t.Fatalf("this takes more than %d actions: %q", mostActions, u.acts)
	}
}

// eyes look at the page: words returns the text of an element, place the middle of what is called a name and can be
// clicked, inSight whether a text is seen whole: within the window, and nothing lies over it.
const eyes = `
window.eyes = {
	words(e) { return (e.matches(".label .name") ? e.textContent : e.innerText ?? "").trim().replace(/\s+/g, " "); },
	onTop(e) {
		const b = e.getBoundingClientRect();
		const [x, y] = [b.left + b.width / 2, b.top + b.height / 2];
		const at = b.width > 0 && b.left >= 0 && b.top >= 0 && b.right <= innerWidth && b.bottom <= innerHeight ? document.elementFromPoint(x, y) : null;
		return at && (e.contains(at) || at.contains(e)) ? [x, y] : null;
	},
	place(name, near) {
		for (const e of document.querySelectorAll("button, summary, a, label, [role=tab], .label .name")) {
			if (!e.checkVisibility() || eyes.words(e) !== name) continue;
			if (near && !eyes.words(e.closest("table, section, .label, .menu, .bar-of-tools") ?? e).includes(near)) continue;
			return eyes.onTop(e);
		}
		return null;
	},
	least(e, text) {
		if (!e.checkVisibility() || !eyes.words(e).includes(text)) return [];
		const inner = [...e.children].flatMap((c) => eyes.least(c, text));
		return inner.length > 0 ? inner : [e];
	},
	inSight(text) { return eyes.least(document.body, text).some((e) => eyes.onTop(e)); },
};
0`

// afresh makes the page one that was just opened, and forgets the actions so far.
func (u *user) afresh() {
	u.t.Helper()
	u.acts = nil
	u.check(u.Point(2, 2))
	u.read(nil, `document.activeElement.blur(), document.querySelectorAll(".menu[open], .columns-menu[open]").forEach((m) => { m.open = false; }), location.hash = "#tab=about", 0`)
	u.await(`scopeview.tab === "about"`)
	u.read(nil, `location.hash = "#tab=summary", 0`)
	u.await(`location.hash === ""`) // the page has read it
	u.read(nil, `scopeview.choices.opened.clear(), scopeview.relayout(), document.querySelectorAll("#rows, #panel, #panel *").forEach((e) => { e.scrollTop = 0; }), 0`)
	u.await(`location.hash === "" && scopeview.view === scopeview.aim && scopeview.tab === "summary" && !scopeview.selection && !scopeview.range && !scopeview.hits`)
	u.settle()
	u.awaitKnown()
}

// awaitKnown waits until no panel in sight awaits an answer.
func (u *user) awaitKnown() {
	u.t.Helper()
	u.await(`!Array.from(document.querySelectorAll("#panel .pending, #panel [aria-busy=true]")).some((e) => e.checkVisibility())`)
}

// click clicks on what is called a name; near is a text of the table, the row or the menu that it belongs to.
func (u *user) click(name, near string) {
	u.t.Helper()
	u.act("click on %s", name)
	u.clickAt(fmt.Sprintf("eyes.place(%s, %s)", quote(name), quote(near)))
}

// clickAt clicks on the place that JavaScript finds, once it stays where it is.
func (u *user) clickAt(place string) {
	u.t.Helper()
	var was, at []float64
	for deadline := time.Now().Add(patient); at == nil || !slices.Equal(was, at); {
		if time.Now().After(deadline) {
			u.t.Fatalf("%q: it is not in sight, or it moves: %v", u.acts, at)
		}
		was = at
		u.settle()
		u.read(&at, "%s", place)
	}
	u.check(u.Click(at[0], at[1]))
	u.settle()
}

// clickRow clicks on the name in a table's row.
func (u *user) clickRow(name, caption string) {
	u.t.Helper()
	u.act("click on %s of %s", name, caption)
	const place = `(() => {
		for (const t of document.querySelectorAll("#panel table")) {
			if (!t.checkVisibility() || !t.caption.textContent.startsWith(%s)) continue;
			for (const b of t.querySelectorAll("tbody th button")) if (eyes.words(b) === %s) return eyes.onTop(b);
		}
		return null;
	})()`
	u.clickAt(fmt.Sprintf(place, quote(caption), quote(name)))
}

// scroll turns the wheel over the panel to its end.
func (u *user) scroll() {
	u.t.Helper()
	u.act("scroll")
	b := u.box("#panel")
	u.check(u.Wheel(b.X+b.Width/2, b.Y+b.Height-20, 0, 2000))
	u.settle()
}

// key presses a key.
func (u *user) key(code string, modifiers ...browser.Modifier) {
	u.t.Helper()
	u.act("%s", code)
	u.check(u.Press(code, modifiers...))
	u.settle()
}

// enter types a text and Enter.
func (u *user) enter(text string) {
	u.t.Helper()
	u.act("type %s", text)
	u.check(u.Type(text))
	u.check(u.Press("Enter"))
	u.settle()
}

// drag drags from one place to another.
func (u *user) drag(x0, y0, x1, y1 float64) {
	u.t.Helper()
	u.act("drag")
	u.check(u.Drag(x0, y0, x1, y1))
	u.settle()
}

// sees waits until texts are in sight, without any action.
func (u *user) sees(texts ...string) {
	u.t.Helper()
	for _, text := range texts {
		if err := u.Wait(fmt.Sprintf("eyes.inSight(%s)", quote(text)), patient); err != nil {
			u.t.Fatalf("after %q the page does not show %q; its panel says %.3000q", u.acts, text, strings.Join(strings.Fields(u.text("#panel")), " "))
		}
	}
}

// inBoth runs a test in both browsers, each time, on a page of a trace that is shared by its parts: from a file in one
// browser, from a server in the other. with are further arguments of scopeview html and serve.
func inBoth(t *testing.T, trace func() (string, error), fileIn string, test func(t *testing.T, u *user), with ...string) {
	t.Helper()
	path := traceOf(t, trace)
	var both sync.WaitGroup
	for _, name := range []string{"chromium", "firefox"} {
		both.Go(func() {
			t.Run(name, func(t *testing.T) {
				for home, address := range map[string]func() string{
					"file":   func() string { return fileURL(pageOf(t, path, with...)) },
					"served": func() string { return serveWith(t, append([]string{path}, with...)...) },
				} {
					if (home == "file") != (name == fileIn) && !long.All() {
						continue
					}
					t.Run(home, func(t *testing.T) { test(t, newUser(t, address())) })
				}
			})
		})
	}
	both.Wait()
}

// newUser opens a page for a user.
func newUser(t *testing.T, address string) *user {
	t.Helper()
	u := &user{tab: show(t, address, browser.View{}), home: address}
	u.read(nil, eyes)
	u.await(`!document.querySelector("#first .pending")`) // the first line may become two
	return u
}

// part runs a task of its own on the page.
func (u *user) part(t *testing.T, task string, do func(u *user)) {
	t.Helper()
	t.Run(task, func(t *testing.T) {
		one := &user{tab: &tab{u.Page, t}, home: u.home}
		defer func() {
			if t.Failed() {
				one.keep()
			}
		}()
		one.afresh()
		do(one)
	})
}
