package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrMissing is returned by Start on a machine without Chromium.
var ErrMissing = errors.New("no chromium; make deps installs it")

// chromium is a running Chromium.
type chromium struct {
	ctx    context.Context
	cancel []context.CancelFunc
}

// Option changes how Chromium is started.
type Option = chromedp.ExecAllocatorOption

// Unpaced makes frames follow each other as fast as possible, regardless of the screen, so
// that their duration can be measured.
func Unpaced(a *chromedp.ExecAllocator) {
	chromedp.Flag("disable-frame-rate-limit", true)(a)
	chromedp.Flag("disable-gpu-vsync", true)(a)
}

// Windowed starts the browser that users have: what is measured is measured there.
func Windowed(a *chromedp.ExecAllocator) { chromedp.ExecPath("chromium")(a) }

// Start starts Chromium without its windows, chromium-headless-shell, if that is installed: a
// page takes a third of the processor time there that it takes in chromium --headless, which
// makes a whole window for each. Close ends it.
func Start(options ...Option) (*Browser, error) {
	bin, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		bin, err = exec.LookPath("chromium")
	}
	if err != nil {
		return nil, ErrMissing
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(bin),
		chromedp.WindowSize(Width, Height),
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("no-pings", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	opts = append(opts, options...)
	if os.Getuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium's refuses to run as root
	}
	b := new(chromium)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	b.cancel = append(b.cancel, cancel)
	b.ctx, cancel = chromedp.NewContext(ctx)
	b.cancel = append(b.cancel, cancel)
	if err := chromedp.Do(b.ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("%s does not start: %w", bin, err)
	}
	return &Browser{b}, nil
}

// Close ends Chromium.
func (b *chromium) Close() {
	for i := len(b.cancel) - 1; i >= 0; i-- {
		b.cancel[i]()
	}
}

// Version returns the browser's version text.
func (b *chromium) Version() (string, error) {
	v, err := chromedp.CallBrowser(b.ctx, browser.GetVersion, cdp.Empty{})
	return v.Product, err
}

// chromiumTab is a tab of Chromium.
type chromiumTab struct {
	page    *Page
	ctx     context.Context
	cancel  context.CancelFunc
	fingers int // number of fingers that touch the screen
}

func (b *chromium) newTab(p *Page) (tab, error) {
	t := &chromiumTab{page: p}
	t.ctx, t.cancel = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	if err := t.enable(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *chromiumTab) enable() error {
	// This creates the tab, so it must not have a deadline.
	if err := chromedp.Listen(t.ctx, t.watch); err != nil {
		return err
	}
	for _, enable := range []cdp.Command[cdp.Empty, cdp.Empty]{runtime.Enable, log.Enable, audits.Enable} {
		if err := call(t, enable, cdp.Empty{}); err != nil {
			return err
		}
	}
	return call(t, network.Enable, network.EnableParams{})
}

// call sends a command to the tab.
func call[P, R any](t *chromiumTab, command cdp.Command[P, R], params P) error {
	_, err := ask(t, command, params)
	return err
}

// ask is call with a result.
func ask[P, R any](t *chromiumTab, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

func (t *chromiumTab) Close() { t.cancel() }

func (t *chromiumTab) navigate(address string) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, chromedp.Navigate(address))
}

func (t *chromiumTab) see(v View) error {
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	return errors.Join(
		call(t, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: v.Touch, MaxTouchPoints: 2}),
		call(t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.Width, Height: v.Height, DeviceScaleFactor: v.Scale}),
		call(t, emulation.SetEmulatedMedia, media))
}

func (t *chromiumTab) eval(js string) ([]byte, error) {
	yes := true
	r, err := ask(t, runtime.Evaluate, runtime.EvaluateParams{Expression: js, ReturnByValue: &yes, AwaitPromise: &yes, UserGesture: &yes})
	if err != nil {
		return nil, err
	}
	if r.ExceptionDetails != nil {
		return nil, errors.New(thrown(r.ExceptionDetails))
	}
	return r.Result.Value, nil
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}

func (t *chromiumTab) Picture() (png []byte, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

func (t *chromiumTab) SaveDownloads(into string) error {
	return call(t, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(t.ctx).BrowserContextID, DownloadPath: into,
	})
}

func (t *chromiumTab) Before(js string) error {
	return call(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: js})
}

func (t *chromiumTab) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			var words []string
			for _, a := range e.Args {
				words = append(words, strings.Trim(string(a.Value), `"`)+a.Description)
			}
			t.page.fault("console.%s: %s", e.Type, strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		t.page.fault("exception: %s", thrown(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			t.page.fault("the browser says: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if d := e.Issue.Details.ContentSecurityPolicyIssueDetails; d != nil {
			t.page.fault("content security policy: %s %s", d.ViolatedDirective, d.BlockedURL)
		}
	case *network.EventRequestWillBeSent:
		if u, _, _ := strings.Cut(e.Request.URL, "#"); !t.page.mayLoad(u) {
			t.page.fault("a request to %s", u)
		}
	case *network.EventWebSocketCreated:
		t.page.fault("a web socket to %s", e.URL)
	case *page.EventJavascriptDialogOpening:
		t.page.fault("a dialog: %s", e.Message)
		go func() { // an event's handler must not wait for the browser
			_ = call(t, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	}
}

func (t *chromiumTab) strike(s stroke, times int) error {
	down := input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyDown, Code: s.code, Key: s.key, Text: s.text, Modifiers: int64(s.modifiers),
		WindowsVirtualKeyCode: s.windows, NativeVirtualKeyCode: s.windows,
	}
	if s.text == "" {
		down.Type = input.DispatchKeyEventTypeRawKeyDown // of which Chromium opens a context menu
	}
	for i := range times {
		repeated := i > 0
		down.AutoRepeat = &repeated
		if err := call(t, input.DispatchKeyEvent, down); err != nil {
			return err
		}
	}
	up := down
	up.Type, up.Text, up.AutoRepeat = input.DispatchKeyEventTypeKeyUp, "", nil
	return call(t, input.DispatchKeyEvent, up)
}

func (t *chromiumTab) Type(text string) error {
	return call(t, input.InsertText, input.InsertTextParams{Text: text})
}

func (t *chromiumTab) mouse(steps []step) error {
	var err error
	held, count := false, int64(0)
	for _, s := range steps {
		e := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: s.x, Y: s.y}
		switch s.what {
		case press:
			e.Type, held = input.DispatchMouseEventTypeMousePressed, true
			count++
		case release:
			e.Type, held = input.DispatchMouseEventTypeMouseReleased, false
		case pressRight:
			e.Type, e.Button, e.Buttons = input.DispatchMouseEventTypeMousePressed, input.MouseButtonRight, 2
			count++
		case releaseRight:
			e.Type, e.Button = input.DispatchMouseEventTypeMouseReleased, input.MouseButtonRight
		}
		if s.what != move {
			e.ClickCount = count
		}
		if held || s.what == release {
			e.Button = input.MouseButtonLeft
		}
		if held {
			e.Buttons = 1
		}
		err = errors.Join(err, call(t, input.DispatchMouseEvent, e))
	}
	return err
}

func (t *chromiumTab) Fingers(at ...Spot) error {
	e := input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchMove, TouchPoints: []*input.TouchPoint{}}
	for i, s := range at {
		id := float64(i)
		e.TouchPoints = append(e.TouchPoints, &input.TouchPoint{X: s.X, Y: s.Y, ID: &id})
	}
	switch {
	case len(at) == 0:
		e.Type = input.DispatchTouchEventTypeTouchEnd
	case len(at) > t.fingers:
		e.Type = input.DispatchTouchEventTypeTouchStart
	}
	t.fingers = len(at)
	return call(t, input.DispatchTouchEvent, e)
}

// turn is input.DispatchMouseEventParams of a wheel with explicit zeros, which that type
// omits and the browser requires.
type turn struct {
	Type      string   `json:"type"`
	X         float64  `json:"x"`
	Y         float64  `json:"y"`
	DeltaX    float64  `json:"deltaX"`
	DeltaY    float64  `json:"deltaY"`
	Modifiers Modifier `json:"modifiers"`
}

func (t *chromiumTab) Wheel(x, y, dx, dy float64, modifiers ...Modifier) error {
	wheel := cdp.Command[turn, cdp.Empty]{Method: input.CommandDispatchMouseEvent}
	return call(t, wheel, turn{"mouseWheel", x, y, dx, dy, sum(modifiers)})
}
