// Command screenshots takes pictures of the demo's timeline: in light and dark, zoomed in,
// with a scope selected, and live. make screenshots runs it after make demo.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/tool"
	"github.com/scopeview/scopeview/uitest/traces"
)

func main() {
	traces.Main()
	out := flag.String("o", "screenshots", "write the pictures into this `directory`")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// studio has the tools for taking pictures.
type studio struct {
	chromium  *browser.Browser
	root, out string
	tool      tool.Tool
}

func run(out string) error {
	root, err := tool.Root()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	chromium, err := browser.Start(browser.Windowed)
	if err != nil {
		return err
	}
	defer chromium.Close()
	s := studio{chromium: chromium, root: root, out: out, tool: tool.Tool(filepath.Join(root, "bin/scopeview"))}
	html := filepath.Join(out, "demo.html")
	if _, err := s.tool.Run("html", filepath.Join(root, "demo/gostats.scope"), "-o", html); err != nil {
		return err
	}
	abs, err := filepath.Abs(html)
	if err != nil {
		return err
	}
	page := (&url.URL{Scheme: "file", Path: abs}).String()
	return errors.Join(
		s.picture("light", page, browser.View{}, nil),
		s.picture("dark", page, browser.View{Dark: true}, nil),
		s.picture("small-light", page, browser.View{Width: 1000, Height: 640}, nil),
		s.picture("small-dark", page, browser.View{Width: 1000, Height: 640, Dark: true}, nil),
		s.picture("zoomed", page, browser.View{}, zoomIn),
		s.picture("selected", page, browser.View{}, longestParse),
		s.picture("flame", page, browser.View{Dark: true}, func(p *browser.Page) error { return p.Press("Digit3") }),
		s.picture("help", page, browser.View{}, func(p *browser.Page) error { return p.Press("Slash", browser.Shift) }),
		s.picture("200-percent", page, browser.View{Width: browser.Width / 2, Height: browser.Height / 2, Scale: 2}, nil),
		s.live())
}

// picture opens the page, does something with it, and takes a picture.
func (s *studio) picture(name, address string, v browser.View, do func(*browser.Page) error) error {
	p, err := s.chromium.Open(address, v)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Ready(time.Minute); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if do != nil {
		if err := do(p); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	time.Sleep(500 * time.Millisecond) // animations end
	png, err := p.Picture()
	if err == nil {
		png, err = browser.Small(png)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, f := range p.Faults() {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, f)
	}
	path := filepath.Join(s.out, name+".png")
	fmt.Printf("%s  %d kB\n", path, len(png)/1000)
	return os.WriteFile(path, png, 0o644)
}

// zoomIn zooms in on the middle, as far as single scopes have labels.
func zoomIn(p *browser.Page) error {
	for range 12 {
		if err := p.Wheel(browser.Width/2, browser.Height*0.4, 0, -240, browser.Ctrl); err != nil {
			return err
		}
	}
	return nil
}

// longestParse selects the longest scope called parse, by keys.
func longestParse(p *browser.Page) error {
	return errors.Join(p.Press("Slash"), p.Type("parse"), p.Press("Enter"), p.Press("Tab"), p.Press("KeyL"))
}

// live takes a picture of the demo while it runs.
func (s *studio) live() error {
	trace := filepath.Join(s.out, "live.scope")
	_ = os.Remove(trace)
	cmd := exec.Command(filepath.Join(s.root, "demo/gostats"), "-workers", "8", "-limit-files", "3000", "-repeat", "1000", "-trace", trace)
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.Remove(trace)
	}()
	time.Sleep(2 * time.Second)
	server, err := s.tool.Serve(trace)
	if err != nil {
		return err
	}
	defer server.Close()
	return s.picture("live", server.URL, browser.View{}, func(*browser.Page) error {
		time.Sleep(3 * time.Second)
		return nil
	})
}
