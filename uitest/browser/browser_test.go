package browser

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// TestHome: a page may ask for itself, or its own server, and for nothing else.
func TestHome(t *testing.T) {
	const file, server = "file:///tmp/x.html", "http://127.0.0.1:4711/"
	for _, test := range []struct {
		home, url string
		want      bool
	}{
		{file, file, true},
		{file, "file:///tmp/y.html", false},
		{file, "file:///tmp/x.html.js", false},
		{file, "https://example.org/", false},
		{file, "data:image/png;base64,AA==", true},
		{file, "blob:null/1", true},
		{server, server, true},
		{server, server + "api/tile?from=0", true},
		{server, "http://127.0.0.1:4712/", false},
		{server, "http://127.0.0.1:47110/", false},
		{server, "https://127.0.0.1:4711/", false},
		{server, "file:///etc/passwd", false},
	} {
		if got := (&Page{home: test.home}).mayLoad(test.url); got != test.want {
			t.Errorf("from %s to %s: %v", test.home, test.url, got)
		}
	}
}

// TestFaults: what a page does that it must not is noted.
func TestFaults(t *testing.T) {
	p := &Page{home: "file:///x.html"}
	for _, event := range []any{
		&network.EventRequestWillBeSent{Request: &network.Request{URL: "file:///x.html#v=1-2"}},
		&network.EventRequestWillBeSent{Request: &network.Request{URL: "http://evil.example/"}},
		&network.EventWebSocketCreated{URL: "ws://evil.example/"},
		&runtime.EventConsoleAPICalled{Type: runtime.ConsoleAPICalledTypeLog},
		&runtime.EventConsoleAPICalled{Type: runtime.ConsoleAPICalledTypeError, Args: []*runtime.RemoteObject{{Value: []byte(`"no"`)}}},
		&runtime.EventExceptionThrown{ExceptionDetails: &runtime.ExceptionDetails{Text: "Uncaught"}},
	} {
		(&chromiumTab{page: p}).watch(event)
	}
	want := []string{"a request to http://evil.example/", "a web socket to ws://evil.example/", "console.error: no", "exception: Uncaught"}
	if got := p.Faults(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p.fault("%s", strings.Repeat("x", 100_000))
	if got := p.Faults(); len(got[4]) > 600 {
		t.Errorf("a message of %d bytes", len(got[4]))
	}
	p.Forgive()
	if got := p.Faults(); len(got) != 0 {
		t.Errorf("forgiven, there are %q", got)
	}
}

func TestStroke(t *testing.T) {
	for _, test := range []struct {
		code      string
		modifiers Modifier
		key, text string
		windows   int64
	}{
		{"KeyW", 0, "w", "w", 'W'},
		{"KeyW", Shift, "W", "W", 'W'},
		{"KeyC", Ctrl, "c", "", 'C'},
		{"Digit0", 0, "0", "0", '0'},
		{"Slash", Shift, "?", "?", 191},
		{"Escape", 0, "Escape", "", 27},
		{"ArrowLeft", Alt, "ArrowLeft", "", 37},
		{"Enter", 0, "Enter", "\r", 13},
	} {
		s, err := strokeOf(test.code, test.modifiers)
		if want := (stroke{test.code, test.key, test.text, test.windows, test.modifiers}); err != nil || s != want {
			t.Errorf("%s with %d: %+v, %v", test.code, test.modifiers, s, err)
		}
	}
	if _, err := strokeOf("Nonsense", 0); err == nil {
		t.Error("there is a key with the code Nonsense")
	}
}

// TestPages: each browser executes commands, and records what a page must not do.
func TestPages(t *testing.T) {
	for name, start := range map[string]func() (*Browser, error){
		"chromium": func() (*Browser, error) { return Start() },
		"firefox":  StartFirefox,
	} {
		t.Run(name, func(t *testing.T) {
			b, err := start()
			if errors.Is(err, ErrMissing) || errors.Is(err, ErrNoFirefox) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if v, err := b.Version(); err != nil || !strings.Contains(strings.ToLower(v), name[:5]) {
				t.Errorf("it calls itself %q, %v", v, err)
			}
			path := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(path, []byte(diary), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := b.Open((&url.URL{Scheme: "file", Path: path}).String(), View{Dark: true, Width: 600, Height: 400})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			obeys(t, p)
			if err := p.Click(30, 40); err != nil { // the key Tab has moved the focus out of the page
				t.Fatal(err)
			}
			other, err := b.Open("about:blank", View{})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			var focus bool
			if err := p.Eval("document.hasFocus()", &focus); err != nil || !focus {
				t.Errorf("a page behind another one has the focus: %v, %v", focus, err)
			}
			notes(t, p)
			leaves(t, p)
		})
	}
}

// leaves: a page that changes its address all the time is gone when another one was gone to. Firefox
// refuses more than 200 changes in ten seconds, each with an error on the console.
func leaves(t *testing.T, p *Page) {
	t.Helper()
	var address string
	if err := p.Eval(`let n = 0; setInterval(() => history.replaceState(null, "", "#" + n++), 50); location.href`, &address); err != nil {
		t.Fatal(err)
	}
	address, _, _ = strings.Cut(address, "#")
	var log float64
	if err := errors.Join(p.Go(address), p.Eval("log.length", &log)); err != nil || log != 0 {
		t.Errorf("of the page that was left there are %v lines, %v", log, err)
	}
}

// diary writes down what happens to it; its policy forbids pictures from elsewhere.
const diary = `<!DOCTYPE html><meta charset=utf-8>
<meta http-equiv="Content-Security-Policy" content="img-src http://allowed.invalid/">
<body style="margin:0;height:400px"><input style="position:absolute;top:300px"><script>
const log = [];
const modifiers = (e) => (e.ctrlKey ? "ctrl+" : "") + (e.shiftKey ? "shift+" : "") + (e.altKey ? "alt+" : "");
addEventListener("keydown", (e) => log.push(modifiers(e) + e.code + "=" + e.key + (e.repeat ? " again" : "")));
for (const type of ["mousedown", "mouseup", "dblclick"]) addEventListener(type, (e) => log.push(type + " " + e.clientX + "," + e.clientY));
addEventListener("mousemove", (e) => { if (e.buttons) log.push("drag"); });
addEventListener("wheel", (e) => { log.push(modifiers(e) + "wheel " + e.deltaX + "," + e.deltaY); e.preventDefault(); }, { passive: false });
</script>`

func obeys(t *testing.T, p *Page) {
	t.Helper()
	is := func(want, js string) {
		t.Helper()
		var got string
		if err := p.Eval(js, &got); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", js, got, err, want)
		}
	}
	is("true 1 600 400", `[matchMedia("(prefers-color-scheme: dark)").matches, devicePixelRatio, innerWidth, innerHeight].join(" ")`)
	is("light", `Promise.resolve("light")`)
	var value struct{ A []float64 }
	if err := p.Eval(`({a: [1, 2.5]})`, &value); err != nil || !slices.Equal(value.A, []float64{1, 2.5}) {
		t.Errorf("%v, %v", value, err)
	}
	if err := p.Eval(`throw new Error("no")`, nil); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("what is thrown is %v", err)
	}
	for _, test := range []struct {
		do   func() error
		want string
	}{
		{func() error { return p.Press("KeyW") }, "KeyW=w"},
		{func() error { return p.Hold("ArrowLeft", 3) }, "ArrowLeft=ArrowLeft;ArrowLeft=ArrowLeft again;ArrowLeft=ArrowLeft again"},
		{func() error { return p.PressAs("KeyW", "z") }, "KeyW=z"},
		{func() error { return p.Drag(10, 20, 110, 20) }, "mousedown 10,20" + strings.Repeat(";drag", 10) + ";mouseup 110,20"},
		{func() error { return p.DoubleClick(30, 40) }, "mousedown 30,40;mouseup 30,40;mousedown 30,40;mouseup 30,40;dblclick 30,40"},
		{func() error { return p.Wheel(50, 60, 0, -120) }, "wheel 0,-120"},
		{func() error { return p.Wheel(50, 60, 0, -120, Ctrl) }, "ctrl+wheel 0,-120"},
	} {
		if err := p.Eval("log.length = 0", nil); err != nil {
			t.Fatal(err)
		}
		if err := test.do(); err != nil {
			t.Errorf("%s: %v", test.want, err)
		}
		_ = p.Settle()
		is(test.want, `log.filter((e) => !/^(Shift|Control)|=(Shift|Control|Alt)$/.test(e)).join(";")`)
	}
	if err := errors.Join(p.Eval("log.length = 0", nil), p.Press("Slash", Shift)); err != nil {
		t.Error(err)
	}
	is("shift+Slash=?", "log.at(-1)")
	if err := p.Press("ArrowLeft", Ctrl); err != nil {
		t.Error(err)
	}
	is("ctrl+ArrowLeft=ArrowLeft", "log.at(-1)")
	if err := errors.Join(p.Eval(`document.querySelector("input").focus()`, nil), p.Type("a ü?")); err != nil {
		t.Error(err)
	}
	is("a ü?", `document.querySelector("input").value`)
	for code, k := range keys {
		if err := p.Press(code); err != nil {
			t.Error(err)
		}
		is(code+"="+k.key, "log.at(-1)")
	}
	if err := p.See(View{Scale: 2}); err != nil {
		t.Error(err)
	}
	is("false 2 1400 900", `[matchMedia("(prefers-color-scheme: dark)").matches, devicePixelRatio, innerWidth, innerHeight].join(" ")`)
	if f := p.Faults(); len(f) > 0 {
		t.Errorf("nothing was wrong but %q", f)
	}
}

func notes(t *testing.T, p *Page) {
	t.Helper()
	for _, test := range []struct{ js, want string }{
		{`console.error("bad")`, "console.error: bad"},
		{`console.warn("odd")`, "console.warn"},
		{`setTimeout(() => { throw new Error("thrown"); })`, "thrown"},
		{`new Image().src = "http://blocked.invalid/x.png"`, "img-src"},
		{`new Image().src = "http://allowed.invalid/x.png"`, "://allowed.invalid/x.png"},
		{`setTimeout(() => alert("hello"))`, "a dialog: hello"},
	} {
		p.Forgive()
		if err := p.Eval(test.js+";0", nil); err != nil {
			t.Errorf("%s: %v", test.js, err)
		}
		noted := func() bool {
			return slices.ContainsFunc(p.Faults(), func(f string) bool { return strings.Contains(f, test.want) })
		}
		for deadline := time.Now().Add(10 * time.Second); !noted() && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if !noted() {
			t.Errorf("%s: the faults are %q, want %q", test.js, p.Faults(), test.want)
		}
	}
}
