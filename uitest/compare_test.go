package uitest

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// builds are two traces that differ in get, which takes half as long again in the second.
func builds(t *testing.T) (before, after string) {
	t.Helper()
	before, after = pathOf(t, "before.scope"), pathOf(t, "after.scope")
	check(t, traces.Build(before, 0))
	check(t, traces.Build(after, 50))
	return before, after
}

// checkSlower checks that the Compare tab reports get, and nothing else, with the difference
// once it is picked.
func checkSlower(t *testing.T, tb *tab) {
	t.Helper()
	tb.await(`document.querySelector("#panel .compare tbody tr")`)
	v := tb.table("#panel .compare")
	name, said, by := v.column(t, "name"), v.column(t, "durations"), v.column(t, "by")
	for i, want := range [][3]string{{"get", "slower", "+50%"}, {"put", "within the spread", "0%"}, {"scan", "within the spread", "0%"}} {
		if got := [3]string{v.Rows[i][name], v.Rows[i][said], v.Rows[i][by]}; got != want {
			t.Errorf("row %d of the comparison is %q, want %q", i, got, want)
		}
	}
	tb.read(nil, `document.querySelector("#panel .compare tbody button").focus()`)
	tb.press("Enter")
	says(t, tb, "#panel .compared", "get: slower", "p50 999 µs → 1.50 ms (+50%)")
	if n := tb.number(`document.querySelectorAll("#panel .compared .bucket").length`); n < 3 {
		t.Errorf("the histogram has %v buckets", n)
	}
	tb.await(`new URLSearchParams(location.hash.slice(1)).get("compared") === "get"`)
}

// TestCompareFile: a page that was made of two traces, and one that is served.
func TestCompareFile(t *testing.T) {
	browsers(t, func(t *testing.T) {
		before, after := builds(t)
		tb := show(t, fileURL(pageOf(t, before, "--with", after)), browser.View{})
		tb.press("KeyJ")
		checkSlower(t, tb)
		faultless(t, tb, "a comparison")
		s, err := cmd.Serve(before, "--with", after)
		check(t, err)
		t.Cleanup(s.Close)
		tb = show(t, s.URL, browser.View{Dark: true})
		tb.press("KeyJ")
		checkSlower(t, tb)
	})
}

// TestCompareDropped: another page can be dropped on an open one. Other files get a message
// with the remedy.
func TestCompareDropped(t *testing.T) {
	browsers(t, func(t *testing.T) {
		before, after := builds(t)
		tb := show(t, fileURL(pageOf(t, before)), browser.View{})
		tb.press("KeyJ")
		says(t, tb, "#panel", "drop the page")
		drop := func(name, content string) {
			t.Helper()
			tb.read(nil, `(() => {
				const data = new DataTransfer();
				data.items.add(new File([Uint8Array.from(atob(%s), (c) => c.charCodeAt(0))], %s));
				document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
			})()`, quote(base64.StdEncoding.EncodeToString([]byte(content))), quote(name))
		}
		drop("after.scope", "SCOPEVW")
		tb.await(`document.querySelector("#panel .compare [role=status]").textContent.includes("scopeview html after.scope")`)
		html, err := os.ReadFile(pageOf(t, after))
		check(t, err)
		drop("after.html", string(html))
		checkSlower(t, tb)
		if s := tb.text("#panel .compare"); !strings.Contains(s, "B is after") {
			t.Errorf("the page does not say what B is: %q", s)
		}
	})
}
