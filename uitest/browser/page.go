package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/audits"
	download "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long one step with a page may take.
const patience = time.Minute

// Page is one tab, with storage of its own.
type Page struct {
	ctx    context.Context
	cancel context.CancelFunc
	home   string // what it may load: its own file, or its own server

	mu     sync.Mutex
	faults []string
}

// View is how a page is looked at.
type View struct {
	Width, Height int64   // CSS pixels; 0: the window's
	Scale         float64 // device pixels per CSS pixel; 0: 1
	Dark          bool
}

// Open loads a page and returns when the browser has loaded it, which is before
// the page has shown anything; see Ready.
func (b *Browser) Open(address string, v View) (*Page, error) {
	p := new(Page)
	p.ctx, p.cancel = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	if err := p.open(address, v); err != nil {
		p.Close()
		return nil, fmt.Errorf("%s can't be opened: %w", address, err)
	}
	return p, nil
}

func (p *Page) open(address string, v View) error {
	// This makes the tab, so it must not have a deadline.
	if err := chromedp.Listen(p.ctx, p.watch); err != nil {
		return err
	}
	for _, enable := range []cdp.Command[cdp.Empty, cdp.Empty]{runtime.Enable, log.Enable, audits.Enable} {
		if err := call(p, enable, cdp.Empty{}); err != nil {
			return err
		}
	}
	if err := call(p, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	if err := p.See(v); err != nil {
		return err
	}
	return p.Go(address)
}

// call sends a command to the tab.
func call[P, R any](p *Page, command cdp.Command[P, R], params P) error {
	_, err := ask(p, command, params)
	return err
}

// ask is call with an answer.
func ask[P, R any](p *Page, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Call(ctx, command, params)
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
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, chromedp.Navigate(address))
}

// See changes how the page is looked at.
func (p *Page) See(v View) error {
	if v.Width == 0 {
		v.Width, v.Height = Width, Height
	}
	if v.Scale == 0 {
		v.Scale = 1
	}
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	return errors.Join(
		call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.Width, Height: v.Height, DeviceScaleFactor: v.Scale}),
		call(p, emulation.SetEmulatedMedia, media))
}

// Close closes the tab.
func (p *Page) Close() { p.cancel() }

// Eval runs JavaScript in the page and, unless result is nil, stores what it
// evaluates to; it waits for promises.
func (p *Page) Eval(js string, result any) error {
	yes := true
	r, err := ask(p, runtime.Evaluate, runtime.EvaluateParams{Expression: js, ReturnByValue: &yes, AwaitPromise: &yes, UserGesture: &yes})
	if err != nil {
		return fmt.Errorf("%s: %w", shorten(js), err)
	}
	if r.ExceptionDetails != nil {
		return fmt.Errorf("%s: %v", shorten(js), thrown(r.ExceptionDetails))
	}
	if result == nil {
		return nil
	}
	if len(r.Result.Value) == 0 {
		return fmt.Errorf("%s: it is %s", shorten(js), r.Result.Type)
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		return fmt.Errorf("%s: %w", shorten(js), err)
	}
	return nil
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}

// Wait asks the page again and again until the JavaScript is true.
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

// Settle waits until the page has drawn what it was told by now.
func (p *Page) Settle() error {
	return p.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(0), 0))))`, nil)
}

// Picture is what the page looks like, as PNG.
func (p *Page) Picture() (png []byte, err error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

// Faults are the things that the page did and no page of ours may do: errors on
// the console, exceptions, violations of its content security policy, dialogs,
// requests to anywhere but its home.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

// Forgive forgets the faults so far.
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

func (p *Page) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			var words []string
			for _, a := range e.Args {
				words = append(words, strings.Trim(string(a.Value), `"`)+a.Description)
			}
			p.fault("console.%s: %s", e.Type, strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		p.fault("exception: %s", thrown(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			p.fault("the browser says: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if d := e.Issue.Details.ContentSecurityPolicyIssueDetails; d != nil {
			p.fault("content security policy: %s %s", d.ViolatedDirective, d.BlockedURL)
		}
	case *network.EventRequestWillBeSent:
		if u, _, _ := strings.Cut(e.Request.URL, "#"); !p.mayLoad(u) {
			p.fault("a request to %s", u)
		}
	case *network.EventWebSocketCreated:
		p.fault("a web socket to %s", e.URL)
	case *page.EventJavascriptDialogOpening:
		p.fault("a dialog: %s", e.Message)
		go func() { // an event's handler must not wait for the browser
			_ = call(p, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	}
}

// mayLoad reports whether a request stays at home: a page from a file may load
// itself, one from a server what that server has.
func (p *Page) mayLoad(u string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return u == p.home || strings.HasPrefix(p.home, "http") && strings.HasPrefix(u, p.home) ||
		strings.HasPrefix(u, "data:") || strings.HasPrefix(u, "blob:")
}

// shorten keeps messages readable where a page's whole source would be in them.
func shorten(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// SaveDownloads saves what the page lets the user download in a directory.
func (p *Page) SaveDownloads(into string) error {
	return call(p, download.SetDownloadBehavior, download.SetDownloadBehaviorParams{
		Behavior: download.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID, DownloadPath: into,
	})
}

// Before runs JavaScript in every page that is loaded from now on, before its
// own.
func (p *Page) Before(js string) error {
	return call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: js})
}
