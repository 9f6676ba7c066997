package uitest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// inList are the names of the traces that the list shows.
const inList = `[...document.querySelectorAll("#traces tr td:nth-child(2)")].map((c) => c.textContent).join(" ")`

// TestListOfTraces: the list of a directory is searched, also by what took long; two that are
// ticked, by keys alone, are compared, the earlier one first; and more are one timeline.
func TestListOfTraces(t *testing.T) {
	before, after := builds(t)
	folder := t.TempDir()
	check(t, os.Mkdir(filepath.Join(folder, "a"), 0o700))
	check(t, os.Rename(before, filepath.Join(folder, "a", "before.scope")))
	check(t, os.Rename(after, filepath.Join(folder, "after.scope")))
	check(t, os.Link(storeTrace(t), filepath.Join(folder, "store.scope")))
	check(t, os.Rename(record(t, "one", 0), filepath.Join(folder, "one.scope")))
	check(t, os.WriteFile(filepath.Join(folder, "broken.scope"), []byte("text"), 0o600))
	browsers(t, func(t *testing.T) {
		address := serve(t, folder)
		tb := open(t, address, browser.View{Dark: true})
		tb.await(`document.querySelectorAll("#traces tr").length === 5`)
		tb.await(`!document.body.textContent.includes("…;") && [...document.querySelectorAll("#traces td:last-child")].every((c) => c.textContent.trim() !== "…")`)
		says(t, tb, "#traces", "broken.scope", "not a scopeview trace", "get 1.65 ms, 600 ms")
		says(t, tb, "#status", "5 traces; 1 can't be read")
		faultless(t, tb, "the list")
		var newest string
		tb.read(&newest, `document.querySelector("#traces tr td:nth-child(2)").textContent`)
		search := func(text, want string) {
			t.Helper()
			tb.read(nil, `((box) => { box.value = %s; box.dispatchEvent(new Event("input")); })(document.querySelector("#search")), 0`, quote(text))
			var got string
			if tb.read(&got, inList); got != want {
				t.Errorf("%q finds %q, want %q", text, got, want)
			}
		}
		set := filepath.Join("a", "before.scope")
		search("before", set)
		search("STORE.scope closed", "store.scope")
		search("slow:scan trace:after", "after.scope")
		search("slow:nothing", "")
		says(t, tb, "body", "No trace matches.")
		search("since:2000-01-01 trace:before", set)
		search("until:2000-01-01", "")
		search("since:100000d until:0s trace:before", set)
		search("pid:1", "")
		search("broken", "broken.scope")
		search("slow:scan", set+" after.scope")
		tb.await(`location.hash === "#q=slow%%3Ascan"`)

		// What a browser opens first is the newest, from which a link leads here.
		tb.read(nil, `location.assign("/newest")`)
		tb.await(`location.pathname.startsWith("/t/") && typeof scopeview !== "undefined" && scopeview.model.meta.path === %s`, quote(newest))
		tb.read(nil, `document.querySelector("#top > a").click()`)
		tb.await(`document.querySelectorAll("#traces tr").length === 5`)
		search("slow:scan", set+" after.scope")

		// By keys: down from the search to each row's box.
		tb.read(nil, `document.activeElement.blur()`)
		for _, key := range []string{"Slash", "ArrowDown", "Space", "ArrowDown", "Space"} {
			tb.check(tb.Press(key))
		}
		says(t, tb, "#status", "2 of 5 traces", "2 ticked")
		if tb.number(`document.querySelector("#compare").disabled ? 1 : 0`) != 0 {
			t.Error("two that are ticked can't be compared")
		}
		faultless(t, tb, "two are ticked")
		tb.check(tb.Press("KeyC"))
		tb.await(`location.pathname.startsWith("/t/") && typeof scopeview !== "undefined" && scopeview.other`)
		var names string
		tb.read(&names, `scopeview.model.meta.path + " " + scopeview.other.meta.path`)
		if want := "before.scope after.scope"; names != want {
			t.Errorf("compared are %q, want %q", names, want)
		}
		tb.check(tb.Eval(helpers, nil))
		tb.read(nil, `(scopeview.showTab("compare"), 0)`)
		checkSlower(t, tb)

		// All that are ticked are one timeline.
		tb.check(tb.Go(address))
		tb.await(`document.querySelectorAll("#traces tr").length === 5`)
		tb.read(nil, `document.querySelectorAll("#traces tr:is([data-name='store.scope'], [data-name='one.scope']) input").forEach((box) => box.click()), 0`)
		says(t, tb, "#status", "2 ticked")
		tb.check(tb.Press("KeyT"))
		tb.await(`location.pathname.startsWith("/t/") && typeof scopeview !== "undefined"`)
		tb.check(tb.Eval(helpers, nil))
		tb.await(`["only", "parse"].every((name) => test.counts()[name] > 0)`)
	})
}
