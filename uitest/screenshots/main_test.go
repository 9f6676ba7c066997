package main

import (
	"bytes"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/tool"
)

// TestPicture takes a picture of a page, once something was done with it; what
// could not be done leaves none.
func TestPicture(t *testing.T) {
	chromium, err := browser.Start()
	if errors.Is(err, browser.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer chromium.Close()
	out := t.TempDir()
	trace := filepath.Join(out, "x.scope")
	demo, err := tool.Build(t.TempDir(), "./examples/gostats")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := demo.Run("-limit-files", "20", "-trace", trace); err != nil {
		t.Fatal(err)
	}
	view, err := tool.Build(t.TempDir(), "./cmd/scopeview")
	if err != nil {
		t.Fatal(err)
	}
	html := filepath.Join(out, "x.html")
	if _, err := view.Run("html", trace, "-o", html); err != nil {
		t.Fatal(err)
	}
	s := studio{chromium: chromium, out: out, tool: view}
	if err := s.picture("zoomed", "file://"+html, browser.View{Width: 800, Height: 500}, zoomIn); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(out, "zoomed.png"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width != 800 || c.Height != 500 {
		t.Errorf("%+v, %v", c, err)
	}
	none := errors.New("none")
	err = s.picture("failed", "file://"+html, browser.View{}, func(*browser.Page) error { return none })
	if _, e := os.Stat(filepath.Join(out, "failed.png")); !errors.Is(err, none) || e == nil {
		t.Errorf("%v, %v", err, e)
	}
}

// TestNoDemo: without the demo's trace there is nothing to take pictures of.
func TestNoDemo(t *testing.T) {
	root, err := tool.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "demo/gostats.scope")); err == nil {
		t.Skip("make demo was run here")
	}
	if err := run(t.TempDir()); err == nil {
		t.Error("no error")
	}
}
