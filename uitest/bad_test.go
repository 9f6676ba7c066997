package uitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/long"
	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// TestBadInput: whatever is in a trace, the page shows something true of it and
// stays usable.
func TestBadInput(t *testing.T) {
	program := func(name string, size int) func(t *testing.T) string {
		return func(t *testing.T) string { return record(t, name, size) }
	}
	tests := []struct {
		name  string
		heavy bool
		make  func(t *testing.T) string
		look  func(t *testing.T, tb *tab)
	}{
		{"nothing recorded", false, program("empty", 0), func(t *testing.T, tb *tab) {
			says(t, tb, "#facts", "0 scopes")
		}},
		{"one scope", false, program("one", 0), func(t *testing.T, tb *tab) {
			counts(t, tb, "only", 1)
			says(t, tb, "#facts", "1 scope")
			drawsLabel(t, tb, "only", func() {
				only := tb.find("only", "")
				tb.search("only")
				tb.press("Enter", "Tab", "KeyF")
				if v := tb.view(); v.From > only.Start || v.To < only.Start+only.Dur {
					t.Errorf("f shows %v, want the scope %+v", v, only)
				}
			})
		}},
		{"names of 1 KiB", false, program("long", 20), func(t *testing.T, tb *tab) {
			says(t, tb, "#panel", "0007 long long")
			if b := tb.box("#panel"); b.Width > browser.Width {
				t.Errorf("the panel is %v px wide", b.Width)
			}
		}},
		{"500 deep", false, program("deep", 500), func(t *testing.T, tb *tab) {
			if n := tb.number("Math.max(...scopeview.model.rows('goroutine').map((r) => r.depth))"); n != 500 {
				t.Errorf("the row is %v deep, want 500", n)
			}
			few := tb.number("scopeview.drawn.bars")
			tb.read(nil, `Array.from(document.querySelectorAll("#rows button")).find((b) => b.textContent.startsWith("⋯")).click()`)
			tb.settle()
			if all := tb.number("scopeview.drawn.bars"); few == 0 || all <= few {
				t.Errorf("%v bars are drawn of the usual lines, %v of all", few, all)
			}
			if h := tb.number("document.querySelector('#rows .sheet').offsetHeight"); h < 500*18 {
				t.Errorf("all lines of the row are %v px high", h)
			}
		}},
		{"a step of the clock", false, func(t *testing.T) string {
			path := pathOf(t, "jump.scope")
			check(t, traces.Jump(path))
			return path
		}, func(t *testing.T, tb *tab) {
			counts(t, tb, "before", 1)
			counts(t, tb, "behind", 1)
			tb.press("Digit9")
			says(t, tb, "#view-about", "clock")
			across := tb.find("across", "")
			tb.seek(across.Start+100_000, "unknown")
		}},
		{"cut off", false, cutOff, func(t *testing.T, tb *tab) {
			if n := tb.number("test.counts().job"); n == 0 {
				t.Error("nothing is left")
			}
			says(t, tb, "#banner", "cut off")
		}},
		{"50,000 goroutines", true, program("goroutines", 50_000), func(t *testing.T, tb *tab) {
			counts(t, tb, "short", 50_000)
			// Some may have lived long enough to be rows of their own.
			tb.await(`/(49,\d\d\d|50,000) × short/.test(document.getElementById("rows").textContent)`)
			if n := tb.number("document.querySelectorAll('#rows .label').length"); n > 60 {
				t.Errorf("%v rows are shown at once", n)
			}
		}},
		{"ten hours beside a million of 100 ns", true, func(t *testing.T) string {
			path := pathOf(t, "hours.scope")
			check(t, traces.Hours(path, 1_000_000))
			return path
		}, func(t *testing.T, tb *tab) {
			counts(t, tb, "blink", 1_000_000)
			drawsLabel(t, tb, "ten hours", func() {})
			tb.search("blink")
			tb.hits(1_000_000)
			tb.press("Enter", "Tab", "KeyF")
			if v := tb.view(); v.width() > 10_000 {
				t.Errorf("f on a blink shows %v", v)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.heavy {
				long.Skip(t, "its trace has very many rows or scopes")
			}
			t.Parallel()
			trace := test.make(t)
			tb := showTrace(t, trace, browser.View{})
			test.look(t, tb)
			usable(t, tb)
			live := show(t, serve(t, trace), browser.View{})
			usable(t, live)
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// usable checks that everything can be pressed; what it breaks shows as a fault.
func usable(t *testing.T, tb *tab) {
	t.Helper()
	b := tb.box(canvas)
	tb.press("Escape", "Digit0")
	tb.check(tb.Click(b.X+b.Width/2, b.Y+30))
	tb.check(tb.Drag(b.X+b.Width*0.2, b.Y+b.Height-6, b.X+b.Width*0.8, b.Y+b.Height-6))
	tb.press("Digit1", "Digit2", "Digit3", "Digit4", "Digit5", "Digit6", "Digit7", "Digit8", "Digit9", "KeyV", "KeyE", "KeyK", "KeyW", "KeyD", "KeyS", "KeyF", "KeyF", "KeyG", "KeyG", "KeyC", "KeyC",
		"Period", "Comma", "ArrowUp", "ArrowDown", "BracketLeft", "KeyL", "KeyM", "KeyM", "KeyR", "Escape", "Digit0")
	tb.check(tb.Press("KeyT", browser.Shift))
	tb.settle()
	tb.check(tb.Press("KeyT", browser.Shift))
	tb.settle()
}

// says checks that an element contains each of some texts.
func says(t *testing.T, tb *tab, selector string, texts ...string) {
	t.Helper()
	is := tb.text(selector)
	for _, want := range texts {
		if !strings.Contains(is, want) {
			t.Errorf("%s does not say %q: %.300q", selector, want, is)
		}
	}
}

// counts checks how many scopes of a name the page knows.
func counts(t *testing.T, tb *tab, name string, want int) {
	t.Helper()
	if n := int(tb.number("test.counts()[%s] || 0", quote(name))); n != want {
		t.Errorf("the page has %d scopes %s, want %d", n, name, want)
	}
}

// drawsLabel checks that a name is in the picture after some steps.
func drawsLabel(t *testing.T, tb *tab, name string, steps func()) {
	t.Helper()
	steps()
	tb.view()
	var labels []string
	tb.read(&labels, "scopeview.drawn.labels.map((l) => l.label)")
	for _, l := range labels {
		if strings.HasPrefix(l, name) {
			return
		}
	}
	t.Errorf("%s is not in the picture: %q", name, labels)
}

// cutOff is the first half of a trace, as a full disk leaves it.
func cutOff(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(record(t, "store", 60))
	check(t, err)
	path := filepath.Join(t.TempDir(), "cut.scope")
	check(t, os.WriteFile(path, data[:len(data)/2+12345], 0o644))
	return path
}

// TestOldBrowser: a browser without the needed features gets a message.
func TestOldBrowser(t *testing.T) {
	html, err := os.ReadFile(pageOf(t, storeTrace(t)))
	check(t, err)
	tb := open(t, "about:blank", browser.View{})
	tb.check(tb.Before("delete globalThis.DecompressionStream"))
	path := pathOf(t, "old.html")
	check(t, os.WriteFile(path, html, 0o644))
	tb.check(tb.Go(fileURL(path)))
	tb.await(`document.querySelector("[role=alert]")`)
	says(t, tb, "[role=alert]", "DecompressionStream")
	tb.Forgive()
}
