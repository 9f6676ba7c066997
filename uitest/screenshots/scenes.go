package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// scene is a picture of docs/pictures, with its trace and the steps before it is taken.
type scene struct {
	name  string
	trace func(path string) error
	with  func(path string) error // creates the trace to compare with; nil: none
	view  browser.View
	at    string   // state in the address
	keys  []string // "=text" is typed
}

// program records one of the programs of package traces.
func program(name string, size int) func(path string) error {
	return func(path string) error { return traces.Record(path, name, size) }
}

func build(longer int64) func(path string) error {
	return func(path string) error { return traces.Build(path, longer) }
}

var scenes = []scene{
	{name: "first-sight", trace: program("eight", 100)},
	{name: "large-dark", trace: program("eight", 100), view: browser.View{Width: 2560, Height: 1440, Scale: 0.45, Dark: true}},
	{name: "one-wait", trace: program("delayed", 1), keys: []string{"Slash", "=4711", "Enter", "Escape", "KeyB"}},
	{name: "alike-rows", trace: traces.Handlers},
	{name: "search", trace: program("store", 30), keys: []string{"Slash", "=parse"}},
	{name: "slow-ones", trace: traces.Tenants, at: "tab=runs&name=get&long=30000000-60000000"},
	{name: "two-builds", trace: build(0), with: build(50), at: "tab=compare&compared=get"},
	{name: "doctor", trace: program("contend", 12), view: browser.View{Dark: true}, keys: []string{"Digit7", "KeyI"}},
}

// takeScenes takes the pictures of docs/pictures.
func (s *studio) takeScenes() error {
	dir, err := os.MkdirTemp("", "scopeview-scenes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, x := range scenes {
		if err := s.takeScene(dir, x); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}

func (s *studio) takeScene(dir string, x scene) error {
	trace, html := filepath.Join(dir, x.name+".scope"), filepath.Join(dir, x.name+".html")
	if err := x.trace(trace); err != nil {
		return err
	}
	args := []string{"html", trace, "-o", html}
	if x.with != nil {
		other := filepath.Join(dir, x.name+"-with.scope")
		if err := x.with(other); err != nil {
			return err
		}
		args = append(args, "--with", other)
	}
	if _, err := s.tool.Run(args...); err != nil {
		return err
	}
	if x.view.Width == 0 {
		x.view.Width, x.view.Height = 1280, 800
	}
	return s.picture(x.name, (&url.URL{Scheme: "file", Path: html, Fragment: x.at}).String(), x.view, func(p *browser.Page) error {
		var errs []error
		for _, k := range x.keys {
			if text, typed := strings.CutPrefix(k, "="); typed {
				errs = append(errs, p.Type(text))
			} else {
				errs = append(errs, p.Press(k))
			}
			errs = append(errs, p.Settle())
		}
		return errors.Join(errs...)
	})
}
