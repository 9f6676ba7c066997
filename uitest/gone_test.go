package uitest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
)

// atTop is the loudest line of the banner, and what of it can be pressed.
const atTop = `(() => {
	const line = document.querySelector("#banner li.server, #server:not([hidden])");
	return line && line.getBoundingClientRect().top < 100 ? [...line.querySelectorAll("span, button")].map((e) => e.textContent).join(" ") : "";
})()`

// pages opens a page of each kind: its trace is at path, or the second one is.
var pages = []struct {
	name string
	// open returns the server's arguments, what to open behind its address, and the trace at its top.
	open func(t *testing.T, dir string) (args []string, behind, path string)
}{
	{"ended", func(t *testing.T, dir string) ([]string, string, string) {
		path := filepath.Join(dir, "a.scope")
		return []string{path}, "", path
	}},
	{"running", func(t *testing.T, dir string) ([]string, string, string) {
		path, _, times := startTicks(t, 1000)
		<-times
		return []string{path}, "", path
	}},
	{"compared", func(t *testing.T, dir string) ([]string, string, string) {
		return []string{filepath.Join(dir, "a.scope"), "--with", filepath.Join(dir, "b.scope")}, "", filepath.Join(dir, "b.scope")
	}},
	{"merged", func(t *testing.T, dir string) ([]string, string, string) {
		return []string{dir}, "/joined?t=0&t=1", filepath.Join(dir, "b.scope")
	}},
	{"list", func(t *testing.T, dir string) ([]string, string, string) { return []string{dir}, "/", "" }},
}

// twoTraces puts two traces into a new directory.
func twoTraces(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check(t, os.Rename(record(t, "one", 0), filepath.Join(dir, "a.scope")))
	check(t, os.Rename(record(t, "one", 0), filepath.Join(dir, "b.scope")))
	return dir
}

// TestServerIsGone: while the server does not answer, each page has a line at the top with
// the time of the last answer, and retries when it is clicked.
func TestServerIsGone(t *testing.T) {
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			args, behind, path := p.open(t, twoTraces(t))
			s, err := cmd.Serve(args...)
			check(t, err)
			defer s.Close()
			tb := openPage(t, s.URL, behind, path)
			s.Close()
			tb.await(atTop + `.match(/connection to scopeview serve is lost.* state at \d\d:\d\d:\d\d.*Try now/)`)
			faultless(t, tb, "the server is gone")
			tb.read(nil, `document.querySelector("#banner li.server button, #server button").focus(), 0`)
			tb.check(tb.Press("Enter"))
			time.Sleep(300 * time.Millisecond) // it is tried, and the line stays
			tb.await(atTop + `.includes("lost")`)
		})
	}
}

// serveAll is serve with more arguments.
func serveAll(t *testing.T, args ...string) string {
	t.Helper()
	s, err := cmd.Serve(args...)
	check(t, err)
	t.Cleanup(s.Close)
	return s.URL
}

// openPage opens a page, behind the address that has the token if there is one, until it shows a
// trace.
func openPage(t *testing.T, address, behind, path string) *tab {
	t.Helper()
	tb := openBut(t, address, browser.View{Dark: true}, regexp.MustCompile(`ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|409 \(Conflict\)|404 \(Not Found\)`))
	tb.await(`document.querySelector("#traces tr") || typeof scopeview !== "undefined"`)
	if behind != "" {
		host, _, _ := strings.Cut(address, "/?")
		tb.check(tb.Go(host + behind))
	}
	if path != "" {
		tb.await(`typeof scopeview !== "undefined" && document.documentElement.dataset.ready === "true"`)
	}
	return tb
}

// TestG45AnewBrowser: on each page of a re-recorded trace a line at the top reports that,
// and leads to the new recording.
func TestG45AnewBrowser(t *testing.T) {
	for _, p := range pages {
		if p.name == "list" {
			continue // it has what is there
		}
		if p.name != "ended" && p.name != "running" && os.Getenv("SCOPEVIEW_FAULT") != "full" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			args, behind, path := p.open(t, twoTraces(t))
			tb := openPage(t, serveAll(t, args...), behind, path)
			var before string
			tb.read(&before, `scopeview.model.meta.id + " " + scopeview.other?.meta.id`)
			check(t, os.Rename(record(t, "long", 7), path))
			tb.await(atTop + `.match(/recorded to the same path.* as of \d\d:\d\d:\d\d.*Load the file as it is now/)`)
			var is string
			if tb.read(&is, `scopeview.model.meta.id + " " + scopeview.other?.meta.id`); is != before {
				t.Errorf("the page shows %s, and before %s", is, before)
			}
			faultless(t, tb, "recorded to the same path")
			tb.read(nil, `window.old = 1, document.querySelector("#banner li.server button").click(), 0`)
			tb.await(`typeof old === "undefined" && typeof scopeview !== "undefined" && document.documentElement.dataset.ready === "true"`)
			tb.await(`[scopeview.model, scopeview.other].some((m) => m && m.names.some((n) => n.startsWith("0001 long")))`)
			tb.await(atTop + ` === ""`)
		})
	}
}

// TestOpensByFile: the file that --open gives to the browser leads to the page, whose address has no
// token, and is gone then.
func TestOpensByFile(t *testing.T) {
	bin, home := t.TempDir(), t.TempDir()
	opened := filepath.Join(home, "opened")
	check(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >"+opened+".new && mv "+opened+".new "+opened+"\n"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("HOME", home)
	serveAll(t, storeTrace(t), "--open")
	var path []byte
	for deadline := time.Now().Add(10 * time.Second); len(path) == 0; time.Sleep(5 * time.Millisecond) {
		path, _ = os.ReadFile(opened)
		if time.Now().After(deadline) {
			t.Fatal("nothing is opened")
		}
	}
	file := strings.TrimSpace(string(path))
	tb := openBut(t, fileURL(file), browser.View{}, regexp.MustCompile(`^a request to http://127\.0\.0\.1:`)) // of a file's page
	tb.await(`location.protocol === "http:" && location.search === "" && typeof scopeview !== "undefined"`)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Dir(file)); os.IsNotExist(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s stays", file)
		}
	}
}
