package uitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/long"
	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// tab is a page in a test: what goes wrong with it ends the test.
type tab struct {
	*browser.Page
	t *testing.T
}

// browsers runs a test in each browser that there is, in both at once: a browser keeps about one
// processor busy. What the test opens meanwhile is a tab of that one: see current. Firefox runs a
// third of the tests, the same ones each time, unless long tests run.
func browsers(t *testing.T, test func(t *testing.T)) {
	var both sync.WaitGroup
	both.Go(func() { t.Run("chromium", test) })
	both.Go(func() {
		if crc32.ChecksumIEEE([]byte(t.Name()))%3 != 0 && !long.All() {
			return
		}
		t.Run("firefox", func(t *testing.T) {
			if _, err := startFirefox(); errors.Is(err, browser.ErrNoFirefox) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			test(t)
		})
	})
	both.Wait()
}

// current returns the browser for a test: Firefox where browsers named it so, else Chromium.
func current(t *testing.T) *browser.Browser {
	t.Helper()
	if !strings.Contains(t.Name()+"/", "/firefox/") {
		if chromium == nil {
			t.Skip(browser.ErrMissing)
		}
		return chromium
	}
	b, err := startFirefox()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// startFirefox starts it for the first test that wants it.
var startFirefox = sync.OnceValues(func() (b *browser.Browser, err error) {
	if b, err = browser.StartFirefox(); err == nil {
		atEnd = append(atEnd, b.Close)
	}
	return b, err
})

// forgetChoices makes a page one that nobody has seen: tests share a browser.
const forgetChoices = `try { for (const key of Object.keys(localStorage)) if (/^scopeview-(layout|columns)/.test(key)) localStorage.removeItem(key); } catch {}`

// open opens an address. Whatever it does that no page of ours may do fails the
// test at its end.
func open(t *testing.T, address string, v browser.View) *tab {
	t.Helper()
	return openBut(t, address, v, nil)
}

// openBut is open for a page that does what matches too, and in which the scripts of before run first.
func openBut(t *testing.T, address string, v browser.View, may *regexp.Regexp, before ...string) *tab {
	t.Helper()
	p, err := current(t).Open(address, v, append([]string{forgetChoices}, before...)...)
	if err != nil {
		t.Fatal(err)
	}
	tb := &tab{p, t}
	t.Cleanup(func() {
		for _, f := range p.Faults() {
			if may != nil && may.MatchString(f) {
				continue
			}
			t.Errorf("the page must not do this: %s", f)
		}
		if t.Failed() {
			tb.keep()
		}
		p.Close()
	})
	return tb
}

// show opens a timeline and waits for its first picture.
func show(t *testing.T, address string, v browser.View) *tab {
	t.Helper()
	tb := open(t, address, v)
	tb.check(tb.Eval(helpers, nil))
	if err := tb.Ready(30 * time.Second); err != nil {
		t.Fatalf("no first picture: %v; the page says %q", err, tb.text("body"))
	}
	tb.settle()
	return tb
}

// showTrace opens the HTML of a trace.
func showTrace(t *testing.T, trace string, v browser.View, args ...string) *tab {
	t.Helper()
	return show(t, fileURL(pageOf(t, trace, args...)), v)
}

// pageOf writes the HTML of a trace.
func pageOf(t *testing.T, trace string, args ...string) string {
	t.Helper()
	html := pathOf(t, "page.html")
	_, err := cmd.Run(append([]string{"html", trace, "-o", html}, args...)...)
	if err == nil {
		return html
	}
	// Of a damaged trace the tool writes what it can read, and fails.
	if _, missing := os.Stat(html); missing != nil || !strings.Contains(err.Error(), "damaged") {
		t.Fatal(err)
	}
	return html
}

func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// record makes a trace with one of the programs.
func record(t *testing.T, program string, size int) string {
	t.Helper()
	path := pathOf(t, program+".scope")
	if err := traces.Record(path, program, size); err != nil {
		t.Fatal(err)
	}
	return path
}

// store is the trace of the program store that most tests look at.
var store = sync.OnceValues(func() (string, error) {
	path := filepath.Join(dir, "store.scope")
	return path, traces.Record(path, "store", storeJobs)
})

const storeJobs = 30 // of each worker

func storeTrace(t *testing.T) string {
	t.Helper()
	path, err := store()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// helpers are functions that the tests call in the page. each visits the single
// scopes of the model.
const helpers = `
window.test = {
  each(visit) {
    const m = window.scopeview.model;
    for (const row of m.rows("goroutine")) for (const lane of row.lanes) {
      m.eachBar(lane, 0, Infinity, 0, ({ batch, i, j }) => { for (; i < j; i++) visit(batch, i, row, lane); });
    }
  },
  name(batch, i) { return window.scopeview.model.meta.names[batch.name[i]]; },
  find(name, argument) {
    let found = null;
    test.each((batch, i, row, lane) => {
      if (!found && test.name(batch, i) === name && batch.strings[batch.args[i]].includes(argument)) {
        found = { start: batch.start[i], dur: batch.dur[i], row: row.title, key: row.key, depth: lane.depth, kind: batch.kind[i] };
      }
    });
    return found;
  },
  counts() {
    const counts = {};
    test.each((batch, i) => { const n = test.name(batch, i); counts[n] = (counts[n] || 0) + 1; });
    return counts;
  },
  selected() {
    const s = window.scopeview.selection;
    return s && { name: test.name(s.batch, s.i), start: s.batch.start[s.i], dur: s.batch.dur[s.i], args: s.batch.strings[s.batch.args[s.i]] };
  },
  table(table) {
    const text = (e) => e.textContent.replace(/[ ]*[↓↑]$/, "").trim();
    const cells = (row) => Array.from(row.cells, text);
    return { head: cells(table.tHead.rows[0]), rows: Array.from(table.tBodies[0].rows, cells), caption: text(table.caption) };
  },
};
0`

// scope is one scope, as returned by test.find and test.selected.
type scope struct {
	Name, Args, Row string
	Start, Dur      float64
	Key, Depth      int
}

// span is a range of time, in nanoseconds.
type span struct{ From, To float64 }

func (s span) width() float64 { return s.To - s.From }

func (tb *tab) check(err error) {
	tb.t.Helper()
	if err != nil {
		tb.t.Fatal(err)
	}
}

// read evaluates JavaScript into result.
func (tb *tab) read(result any, format string, args ...any) {
	tb.t.Helper()
	tb.check(tb.Eval(fmt.Sprintf(format, args...), result))
}

// number evaluates JavaScript.
func (tb *tab) number(format string, args ...any) (v float64) {
	tb.t.Helper()
	tb.read(&v, format, args...)
	return v
}

// text returns the text of an element.
func (tb *tab) text(selector string) (s string) {
	tb.t.Helper()
	tb.read(&s, "document.querySelector(%s)?.innerText ?? ''", quote(selector))
	return s
}

// await waits until JavaScript is true.
func (tb *tab) await(format string, args ...any) {
	tb.t.Helper()
	tb.check(tb.Wait(fmt.Sprintf(format, args...), 10*time.Second))
}

func (tb *tab) settle() {
	tb.t.Helper()
	tb.check(tb.Settle())
}

// press presses keys, one after another.
func (tb *tab) press(codes ...string) {
	tb.t.Helper()
	for _, c := range codes {
		tb.check(tb.Press(c))
		tb.settle()
	}
}

// view is the range in sight, once the page has come to rest: moves are animated.
func (tb *tab) view() (v span) {
	tb.t.Helper()
	tb.settle()
	tb.await("scopeview.view === scopeview.aim")
	tb.settle()
	tb.read(&v, "({from: scopeview.view.from, to: scopeview.view.to})")
	return v
}

// selected is the selected scope; nil if there is none.
func (tb *tab) selected() (s *scope) {
	tb.t.Helper()
	tb.read(&s, "test.selected()")
	return s
}

// find is the first scope with that name whose arguments contain a text.
func (tb *tab) find(name, argument string) *scope {
	tb.t.Helper()
	var s *scope
	tb.read(&s, "test.find(%s, %s)", quote(name), quote(argument))
	if s == nil {
		tb.t.Fatalf("the page has no scope %s with %s", name, argument)
	}
	return s
}

// box returns the position of an element in the window.
type box struct{ X, Y, Width, Height float64 }

func (tb *tab) box(selector string) (b *box) {
	tb.t.Helper()
	tb.read(&b, "document.querySelector(%s)?.getBoundingClientRect().toJSON() ?? null", quote(selector))
	if b == nil {
		tb.t.Fatalf("there is no %s", selector)
	}
	return b
}

// canvas returns the position of the bars.
const canvas = "#rows canvas"

// xOf returns the x coordinate of a time in the window.
func (tb *tab) xOf(ns float64) float64 {
	tb.t.Helper()
	b, v := tb.box(canvas), tb.view()
	return b.X + (ns-v.From)/v.width()*b.Width
}

// seek moves the pointer down the picture at a moment until the pop-up says what
// is looked for, and returns where that is.
func (tb *tab) seek(ns float64, says string) (x, y float64) {
	tb.t.Helper()
	b := tb.box(canvas)
	x = tb.xOf(ns)
	for y = b.Y + 4; y < b.Y+b.Height; y += 8 {
		tb.check(tb.Point(x, y))
		tb.settle()
		if strings.Contains(tb.popup(), says) {
			return x, y
		}
	}
	tb.t.Fatalf("nowhere at %v ns does the pop-up say %q", ns, says)
	return 0, 0
}

// popup returns the text of the pop-up; "" while it is hidden.
func (tb *tab) popup() string {
	tb.t.Helper()
	return tb.text("#popup:not([hidden])")
}

// table is a table of the page as text.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// table reads the first table in sight below a selector, once its contents are counted.
func (tb *tab) table(selector string) (v *table) {
	tb.t.Helper()
	tb.await("!Array.from(document.querySelectorAll('#panel [aria-busy=true]')).some((e) => e.checkVisibility())")
	tb.read(&v, `(() => {
		const t = Array.from(document.querySelectorAll(%s)).find((t) => t.checkVisibility() && t.tHead);
		return t ? test.table(t) : null;
	})()`, quote(selector+" table"))
	if v == nil {
		tb.t.Fatalf("there is no table in %s", selector)
	}
	return v
}

// column is a column's place.
func (v *table) column(t *testing.T, title string) int {
	t.Helper()
	for i, h := range v.Head {
		if strings.EqualFold(h, title) {
			return i
		}
	}
	t.Fatalf("the table %q has no column %q: %q", v.Caption, title, v.Head)
	return -1
}

// keep writes a picture of a failed test's page to the directory that
// SCOPEVIEW_UITEST_PICTURES names, if it does.
func (tb *tab) keep() {
	to := os.Getenv("SCOPEVIEW_UITEST_PICTURES")
	if to == "" {
		return
	}
	png, err := tb.Picture()
	if err == nil {
		err = os.WriteFile(filepath.Join(to, strings.ReplaceAll(tb.t.Name(), "/", "-")+".png"), png, 0o644)
	}
	if err != nil {
		tb.t.Log(err)
	}
}

// quote makes a JavaScript string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
