package uitest

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// placed is a trace whose names are from places, one of which is an attack.
var placed = sync.OnceValues(func() (string, error) {
	path := filepath.Join(dir, "placed.scope")
	return path, traces.Placed(path)
})

// sourceOf returns the source position in Details of the first scope of a name, by its
// parts.
type sourceOf struct{ Text, Title, Href, Target string }

func (tb *tab) sourceOf(name string) (s *sourceOf) {
	tb.t.Helper()
	tb.read(nil, `test.each((batch, i) => { if (test.name(batch, i) === %s) scopeview.select({ batch, i }, { reveal: true }); }), scopeview.showTab("details")`, quote(name))
	tb.settle()
	tb.await(`document.querySelector(".details h2").textContent === %s`, quote(name))
	tb.read(&s, `(() => {
		const line = document.querySelector(".details dd.source");
		const link = line?.querySelector("a");
		return line && { text: line.querySelector(".mono").textContent, title: line.querySelector(".mono").title, href: link?.getAttribute("href") ?? "", target: link?.target ?? "" };
	})()`)
	return s
}

// click clicks the button or the link that is kept as key.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	b := tb.box(selector)
	tb.check(tb.Click(b.X+b.Width/2, b.Y+b.Height/2))
	tb.settle()
}

// fill puts text into a field of the dialog.
func (tb *tab) fill(label, text string) {
	tb.t.Helper()
	tb.read(nil, `(() => {
		const field = [...document.querySelectorAll("dialog.editor label")].find((l) => l.textContent.startsWith(%s)).querySelector("input");
		field.value = %s;
		field.dispatchEvent(new Event("input", { bubbles: true }));
	})()`, quote(label), quote(text))
	tb.settle()
}

// TestSource: a name's source position is shown, can be copied, and opens in the chosen
// editor, which the browser stores.
func TestSource(t *testing.T) {
	browsers(t, func(t *testing.T) {
		trace, err := placed()
		if err != nil {
			t.Fatal(err)
		}
		for home, address := range map[string]string{"file": fileURL(pageOf(t, trace)), "served": serve(t, trace)} {
			t.Run(home, func(t *testing.T) {
				tb := show(t, address, browser.View{Width: 1280, Height: 800, Dark: home == "served"})
				checkCopy(t, tb)
				checkEditor(t, tb)
				if home == "file" { // what Chromium stores for a file's page comes and goes
					return
				}
				tb.reloadUntil(func() bool {
					s := tb.sourceOf("get")
					return s != nil && s.Href == "https://code.example/home/me/store/store.go#L142" && s.Target == "_blank"
				})
				tb.read(nil, `localStorage.setItem("scopeview.editor", JSON.stringify({ template: "javascript:alert(1)//{path}" }))`)
				tb.reloadUntil(func() bool {
					s := tb.sourceOf("get")
					return s != nil && s.Href == ""
				})
				tb.read(nil, `localStorage.clear()`)
			})
		}
	})
}

func checkCopy(t *testing.T, tb *tab) {
	t.Helper()
	if s := tb.sourceOf("bare"); s != nil {
		t.Errorf("a name whose place is not known is from %+v", s)
	}
	if s := tb.sourceOf("evil"); s == nil || !strings.Contains(s.Text, "<img src=x") || !strings.HasSuffix(s.Title, ":7") {
		t.Errorf("a hostile file is %+v", s)
	}
	s := tb.sourceOf("get")
	if want := (sourceOf{"store/store.go:142 (store.(*Store).get)", "/build/store/store.go:142", "", ""}); s == nil || *s != want {
		t.Fatalf("get is from %+v, want %+v", s, want)
	}
	withAxe(t, tb, "a scope with its source")
	get := tb.find("get", "")
	tb.seek(get.Start+get.Dur/2, "first used at\nstore/store.go:142")
	if s := tb.sourceOf("store.mu"); s == nil || s.Text != "store/store.go:9 (store.(*Store).lock)" {
		t.Errorf("a wait is from %+v", s)
	}
	tb.sourceOf("get")
	tb.read(nil, `Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => { window.copied = text; } } })`)
	tb.click(`[data-keep="copy source"]`)
	tb.await(`window.copied === "/build/store/store.go:142"`)
	tb.click(`[data-keep="copy all facts"]`)
	tb.await(`window.copied.includes("first used at: store/store.go:142 (store.(*Store).get)\n") || window.copied.endsWith("(store.(*Store).get)")`)
}

func checkEditor(t *testing.T, tb *tab) {
	t.Helper()
	tb.read(nil, `document.querySelector('[data-keep="choose-editor"]').focus()`)
	tb.press("Enter")
	tb.await(`document.querySelector("dialog.editor")?.open && document.activeElement.tagName === "SELECT"`)
	withAxe(t, tb, "the choice of an editor")
	tb.read(nil, `(() => { const s = document.querySelector("dialog.editor select"); s.value = s.options[1].value; s.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	tb.fill("Path prefix in the trace", "/build/")
	tb.fill("Path prefix here", "/home/me/")
	tb.await(`document.querySelector("dialog.editor p").textContent === "vscode://file/home/me/store/store.go:142"`)
	for _, bad := range []string{"javascript:alert('{path}')", "data:text/html,{path}", "nothing"} {
		tb.fill("Link", bad)
		tb.await(`document.querySelector("dialog.editor p").textContent.startsWith("A link must begin with") && document.querySelector("dialog.editor > button").disabled`)
	}
	withAxe(t, tb, "a link that is refused")
	tb.fill("Link", "vscode://file/{path}:{line}")
	tb.click("dialog.editor > button")
	tb.await(`!document.querySelector("dialog.editor")`)
	var focus string
	if tb.read(&focus, "document.activeElement.outerHTML"); !strings.Contains(focus, "choose-editor") {
		t.Errorf("the focus is at %.200s", focus)
	}
	const want = "vscode://file/home/me/store/store.go:142"
	tb.await(`document.querySelector("dd.source a").getAttribute("href") === %s`, quote(want))
	// From About, to a site of one's own.
	tb.read(nil, `scopeview.showTab("about")`)
	tb.settle()
	tb.click(".about > button")
	tb.await(`document.querySelector("dialog.editor")?.open`)
	tb.fill("Link", "https://code.example{path}#L{line}")
	tb.click("dialog.editor > button")
	tb.await(`!document.querySelector("dialog.editor")`)
	if s := tb.sourceOf("get"); s == nil || s.Href != "https://code.example/home/me/store/store.go#L142" || s.Target != "_blank" {
		t.Errorf("the link is %+v", s)
	}
	withAxe(t, tb, "a source with its link")
}
