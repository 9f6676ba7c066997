package browser

import (
	"slices"
	"strings"
	"testing"

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
		p.watch(event)
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
		e, err := stroke(test.code, test.modifiers)
		if err != nil || e.Code != test.code || e.Key != test.key || e.Text != test.text || e.WindowsVirtualKeyCode != test.windows || e.Modifiers != int64(test.modifiers) {
			t.Errorf("%s with %d: %+v, %v", test.code, test.modifiers, e, err)
		}
	}
	if _, err := stroke("Nonsense", 0); err == nil {
		t.Error("there is a key with the code Nonsense")
	}
}
