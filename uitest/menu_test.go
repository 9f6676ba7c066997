package uitest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// menu is the open context menu: the texts of its items, and its box.
func (tb *tab) menu() (items []string) {
	tb.t.Helper()
	tb.settle()
	tb.read(&items, `[...document.querySelectorAll(".context-menu:not([hidden]) [role=menuitem]")].map((e) => e.firstChild.textContent)`)
	return items
}

// item clicks on an item of the open menu.
func (tb *tab) item(text string) {
	tb.t.Helper()
	var at *box
	tb.read(&at, `[...document.querySelectorAll(".context-menu:not([hidden]) [role=menuitem]")].find((e) => e.firstChild.textContent === %s)?.getBoundingClientRect().toJSON() ?? null`, quote(text))
	if at == nil {
		tb.t.Fatalf("the menu has no %q: %q", text, tb.menu())
	}
	tb.check(tb.Click(at.X+at.Width/2, at.Y+at.Height/2))
	tb.settle()
	if items := tb.menu(); len(items) > 0 {
		tb.t.Errorf("after %q the menu is still open: %q", text, items)
	}
}

// hasItems checks that the open menu has items, that it is within the window, and that it has no fault.
func (tb *tab) hasItems(where string, want ...string) {
	tb.t.Helper()
	items := tb.menu()
	for _, w := range want {
		if !slices.Contains(items, w) {
			tb.t.Errorf("the menu of %s has no %q: %q", where, w, items)
		}
	}
	if len(items) == 0 {
		return
	}
	if b := tb.box(".context-menu"); b.X < 0 || b.Y < 0 || b.X+b.Width > browser.Width || b.Y+b.Height > browser.Height {
		tb.t.Errorf("the menu of %s is at %+v", where, b)
	}
}

// The texts of items, which the help has, too.
const (
	fitItem   = "zoom to the selection; again: the whole trace"
	rangeItem = "select its time as a range"
	hideItem  = "hide the row"
	pinItem   = "pin the row to the top"
	rootItem  = "the root of its chain of waits"
)

// TestContextMenuOfBars: the other button selects a bar and offers what keys do with it, its name and its row.
func TestContextMenuOfBars(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		parse := tb.find("parse", traces.Longest)
		x, y := tb.seek(parse.Start+parse.Dur*0.9, traces.Longest)
		open := func() {
			t.Helper()
			tb.check(tb.RightClick(x, y))
			tb.hasItems("a bar", fitItem, rangeItem, rootItem, "search for it", "copy its name", pinItem, hideItem)
		}
		open()
		if s := tb.selected(); s == nil || *s != *parse && (s.Name != "parse" || s.Start != parse.Start) {
			t.Fatalf("the other button selects %+v, want %+v", s, parse)
		}
		withAxe(t, tb, "a context menu")
		tb.item("search for it")
		tb.hits(traces.Workers * storeJobs)
		open()
		tb.item(rangeItem)
		var r span
		tb.read(&r, "({from: scopeview.range.from, to: scopeview.range.to})")
		if r.From != parse.Start || r.width() != parse.Dur {
			t.Errorf("its time as a range is %+v, want that of %+v", r, parse)
		}
		tb.press("Escape", "Escape", "Escape")
		open()
		tb.item(hideItem)
		if rows := tb.rowNames(); slices.Contains(rows, parse.Row) {
			t.Errorf("%s is not hidden: %q", parse.Row, rows)
		}
		tb.press("KeyZ")
		tb.await(`scopeview.choices.hidden.size === 0`)
		// By keys in the menu: around its ends, and away.
		tb.read(nil, `document.getElementById("rows").focus()`)
		open()
		items := tb.menu()
		at := func(want int) {
			t.Helper()
			var is string
			tb.read(&is, `document.activeElement.firstChild?.textContent ?? ""`)
			if is != items[want] {
				t.Errorf("the focus is on %q, want %q", is, items[want])
			}
		}
		at(0)
		for _, step := range []struct {
			key  string
			want int
		}{{"ArrowUp", len(items) - 1}, {"ArrowDown", 0}, {"ArrowDown", 1}, {"End", len(items) - 1}, {"Home", 0}} {
			tb.press(step.key)
			at(step.want)
		}
		tb.press("Escape")
		if n := tb.number(`document.activeElement.id === "rows" ? 1 : 0`); len(tb.menu()) > 0 || n != 1 {
			t.Error("Escape does not lead from the menu back to the rows")
		}
		if tb.selected() == nil {
			t.Error("Escape in the menu takes the selection away")
		}
		// Elsewhere a press shuts it.
		open()
		tb.check(tb.Click(2, 2))
		if items := tb.menu(); len(items) > 0 {
			t.Errorf("a click elsewhere leaves the menu open: %q", items)
		}
		// In the corner it stays within the window.
		tb.press("Digit0")
		c := tb.box(canvas)
		tb.check(tb.RightClick(c.X+c.Width-3, c.Y+c.Height-3))
		tb.hasItems("the corner", "the whole trace")
	})
}

// TestContextMenuByKeys: the key for it opens the menu of what is selected, of a row, and of a row of a table.
func TestContextMenuByKeys(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		tb.read(nil, `(() => { const s = test.find("parse", %s); scopeview.select(scopeview.model.find(s.key, s.depth, s.start), { reveal: true }); document.getElementById("rows").focus(); })()`, quote(traces.Longest))
		tb.settle()
		tb.press("ContextMenu")
		tb.hasItems("the selection, by a key", fitItem, "search for it")
		tb.press("Enter")
		s := tb.selected()
		if v := tb.view(); s == nil || s.Name != "parse" || v.width() > 3*s.Dur {
			t.Errorf("Enter on the first item shows %v for %+v, want it zoomed to", v, s)
		}
		tb.press("Escape")
		tb.read(nil, `scopeview.chooseRow("g" + test.find("parse", "").key), document.getElementById("rows").focus()`)
		tb.settle()
		tb.press("ContextMenu")
		tb.hasItems("a row, by a key", pinItem, hideItem)
		tb.press("Escape", "Digit2")
		tb.await(`document.querySelectorAll(".summary tbody tr").length > 2`)
		tb.read(nil, `[...document.querySelectorAll(".summary tbody th button")].find((b) => b.textContent === "parse").focus()`)
		tb.press("ContextMenu")
		tb.hasItems("a row of a table, by a key", "select the longest parse", "all of its executions", "search for it", "copy its name")
		if b, row := tb.box(".context-menu"), tb.box(".summary tbody tr"); b.X+b.Width < row.X || b.Y > row.Y+400 || b.Y+b.Height < row.Y {
			t.Errorf("the menu of a row at %+v is at %+v", row, b)
		}
		tb.press("Enter")
		if s := tb.selected(); s == nil || s.Name != "parse" || s.Args == "" || !strings.Contains(s.Args, traces.Longest) {
			t.Errorf("its first item selects %+v, want the longest parse", s)
		}
	})
}

// TestContextMenuOfRows: of a row's name, of a strip of states, of a lock and of a table's row.
func TestContextMenuOfRows(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, contendedTrace(t), browser.View{})
		var at *box
		label := func(name string) (x, y float64) {
			t.Helper()
			tb.read(&at, `[...document.querySelectorAll("#rows .label.row")].find((l) => l.querySelector(".name").textContent.startsWith(%s))?.querySelector(".name").getBoundingClientRect().toJSON() ?? null`, quote(name))
			if at == nil {
				t.Fatalf("no row is called %s: %q", name, tb.rowNames())
			}
			return at.X + 10, at.Y + at.Height/2
		}
		x, y := label(traces.Starved)
		tb.check(tb.RightClick(x, y))
		tb.hasItems("a row's name", "what it did", pinItem, hideItem, "one line for each row, or all")
		tb.item("what it did")
		tb.await(`scopeview.tab === "details" && document.querySelector("#view-details .row-view h2").textContent.startsWith(%s)`, quote(traces.Starved))
		x, y = label(traces.Starved)
		tb.check(tb.RightClick(x, y))
		tb.item(pinItem)
		if s := tb.text("#live"); !strings.Contains(s, "pinned to the top") {
			t.Errorf("the menu pins nothing: %q", s)
		}
		tb.press("KeyP", "KeyE") // back, and thicker strips
		want := tb.find(traces.Want, "")
		x, y = tb.seek(want.Start+want.Dur/2, "waiting for a lock")
		tb.check(tb.RightClick(x, y))
		tb.hasItems("a strip of states", rootItem)
		tb.item(rootItem)
		if s := tb.text("#live"); !strings.HasPrefix(s, "root: "+traces.Hoarder) {
			t.Errorf("the menu of a wait leads to the root %q, want %s", s, traces.Hoarder)
		}
		tb.press("Escape", "Escape", "Digit2")
		tb.await(`document.querySelectorAll(".summary tbody tr").length > 1`)
		var row box
		tb.read(&row, `[...document.querySelectorAll(".summary tbody tr")].find((r) => r.cells[0].textContent === %s).cells[1].getBoundingClientRect().toJSON()`, quote(traces.Want))
		tb.check(tb.RightClick(row.X+5, row.Y+5))
		tb.hasItems("a table's row", fmt.Sprintf("select the longest %s", traces.Want), "all of its executions")
		tb.item("all of its executions")
		tb.await(`scopeview.tab === "runs" && scopeview.runsOf === %s`, quote(traces.Want))
	})
}
