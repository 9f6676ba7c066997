package uitest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

func (tb *tab) search(text string) {
	tb.t.Helper()
	tb.press("Slash")
	tb.await("document.activeElement?.id === 'search-text'")
	tb.read(nil, "document.activeElement.select()")
	tb.check(tb.Type(text))
	tb.settle()
}

// hits waits for the search's count.
func (tb *tab) hits(want int) {
	tb.t.Helper()
	ok := `(() => { const m = document.getElementById("search-count").textContent.replace(/,/g, "").match(/\d+(?!.*\d)/g) || ["0"]; return Number(m[0]) === ` + strconv.Itoa(want) + `; })()`
	if err := tb.Wait(ok, patient); err != nil {
		tb.t.Errorf("the search says %q, want %d hits", tb.text("#search-count"), want)
	}
}

func TestSearch(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.search("PARSE")
	tb.hits(traces.Workers * storeJobs)
	tb.search(traces.Longest) // an argument: of the read and the parse
	tb.hits(2)
	tb.press("Enter")
	first := tb.selected()
	if first == nil || !strings.Contains(first.Args, traces.Longest) {
		t.Fatalf("Enter selects %+v, want the first hit", first)
	}
	tb.press("Enter")
	second := tb.selected()
	if second == nil || second.Start <= first.Start {
		t.Errorf("Enter again selects %+v, want the hit after %+v", second, first)
	}
	tb.check(tb.Press("Enter", browser.Shift))
	tb.settle()
	if s := tb.selected(); s == nil || *s != *first {
		t.Errorf("Shift+Enter selects %+v, want %+v", s, first)
	}
	tb.search("there is no such thing")
	tb.hits(0)
	tb.press("Escape", "Escape") // of the selection, then of the search
	tb.await("!scopeview.hits")
}

// TestLinkKeepsTheView: what the fragment has, another window shows.
func TestLinkKeepsTheView(t *testing.T) {
	html := pageOf(t, storeTrace(t))
	tb := show(t, fileURL(html), browser.View{})
	tb.search(traces.Longest)
	tb.press("Enter", "Tab", "KeyF", "KeyM")
	view, selected := tb.view(), tb.selected()
	tb.await("location.hash.includes('v=') && location.hash.includes('s=') && location.hash.includes('m=')")
	var hash string
	tb.read(&hash, "location.hash")
	other := show(t, fileURL(html)+hash, browser.View{})
	if v := other.view(); !like(v.From, view.From) || !like(v.To, view.To) {
		t.Errorf("the link shows %v, want %v", v, view)
	}
	if s := other.selected(); s == nil || selected == nil || *s != *selected {
		t.Errorf("the link selects %+v, want %+v", s, selected)
	}
	if n := other.number("scopeview.marks.length"); n != 1 {
		t.Errorf("the link brings %v marks, want 1", n)
	}
}
