package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience is the maximum time of one step with a page.
const patience = time.Minute

// Page is one tab, with storage of its own.
type Page struct {
	tab
	home string // permitted origin: its own file, or its own server

	mu     sync.Mutex
	faults []string
}

// View has the parameters of the window.
type View struct {
	Width, Height int64   // CSS pixels; 0: the window's
	Scale         float64 // device pixels per CSS pixel; 0: 1
	Dark          bool
	Touch         bool // touch input; only Chromium supports it
}

// Open loads a page and returns when the browser has loaded it, before the page has shown
// anything; see Ready. Before the page's own scripts it runs those of before.
func (b *Browser) Open(address string, v View, before ...string) (*Page, error) {
	p := new(Page)
	var err error
	if p.tab, err = b.newTab(p); err != nil {
		return nil, fmt.Errorf("%s can't be opened: %w", address, err)
	}
	err = p.See(v)
	for _, js := range before {
		if err == nil {
			err = p.Before(js)
		}
	}
	if err == nil {
		err = p.Go(address)
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("%s can't be opened: %w", address, err)
	}
	return p, nil
}

// Go loads another address, or the same again.
func (p *Page) Go(address string) error {
	home, _, _ := strings.Cut(address, "#")
	if u, err := url.Parse(address); err == nil && u.Scheme != "file" {
		home = u.Scheme + "://" + u.Host + "/"
	}
	p.mu.Lock()
	p.home = home
	p.mu.Unlock()
	if err := errors.Join(p.Eval("window.leaving = true", nil), p.navigate(address)); err != nil {
		return err
	}
	// If the page changes its own address while it is left, browsers report that as the end.
	// Firefox shows an empty page in between, which is complete.
	there := `!window.leaving && document.readyState === "complete"`
	if !strings.HasPrefix(address, "about:") {
		there += ` && location.protocol !== "about:"`
	}
	return p.Wait(there, patience)
}

// See changes the view.
func (p *Page) See(v View) error {
	if v.Width == 0 {
		v.Width, v.Height = Width, Height
	}
	if v.Scale == 0 {
		v.Scale = 1
	}
	return p.see(v)
}

// Eval runs JavaScript in the page and, unless result is nil, stores its result; it waits
// for promises.
func (p *Page) Eval(js string, result any) error {
	value, err := p.eval(js)
	if err != nil {
		return fmt.Errorf("%s: %w", shorten(js), err)
	}
	if result == nil {
		return nil
	}
	if len(value) == 0 {
		return fmt.Errorf("%s: it has no value", shorten(js))
	}
	if err := json.Unmarshal(value, result); err != nil {
		return fmt.Errorf("%s: %w", shorten(js), err)
	}
	return nil
}

// Wait evaluates the JavaScript repeatedly until it is true.
func (p *Page) Wait(js string, within time.Duration) error {
	deadline := time.Now().Add(within)
	for {
		var ok bool
		err := p.Eval("!!("+js+")", &ok)
		if ok {
			return nil
		}
		if time.Now().After(deadline) {
			if err != nil {
				return fmt.Errorf("not within %v: %w", within, err)
			}
			return fmt.Errorf("not within %v: %s", within, shorten(js))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Ready waits for the page's first complete picture.
func (p *Page) Ready(within time.Duration) error {
	return p.Wait(`window.scopeview && performance.getEntriesByName("scopeview-first-picture").length`, within)
}

// Settle waits until the page has drawn all changes.
func (p *Page) Settle() error {
	return p.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(0), 0))))`, nil)
}

// Faults returns what the page did and none of our pages may do: errors on the console,
// exceptions, violations of its content security policy, dialogs, requests to other origins.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

// Forgive clears the faults so far.
func (p *Page) Forgive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = nil
}

func (p *Page) fault(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, shorten(fmt.Sprintf(format, args...)))
}

// mayLoad reports whether a request stays in the permitted origin: a page from a file may
// load itself, one from a server its resources.
func (p *Page) mayLoad(u string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return u == p.home || strings.HasPrefix(p.home, "http") && strings.HasPrefix(u, p.home) ||
		strings.HasPrefix(u, "data:") || strings.HasPrefix(u, "blob:")
}

// shorten truncates messages that contain a page's whole source.
func shorten(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
