// Package browser drives a headless Chromium as a user would: it opens pages,
// presses keys, moves the mouse, and notes everything a page must never do.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// The window's size; at this one a page is looked at unless a test says otherwise.
const (
	Width  = 1400
	Height = 900
)

// ErrMissing is what Start returns on a machine without Chromium.
var ErrMissing = errors.New("no chromium; make deps installs it")

// Browser is a running Chromium.
type Browser struct {
	ctx    context.Context
	cancel []context.CancelFunc
}

// Option changes how Chromium is started.
type Option = chromedp.ExecAllocatorOption

// Unpaced lets frames follow each other as fast as they can be made, whatever a
// screen could show: how long one takes can be measured then.
func Unpaced(a *chromedp.ExecAllocator) {
	chromedp.Flag("disable-frame-rate-limit", true)(a)
	chromedp.Flag("disable-gpu-vsync", true)(a)
}

// Start starts Chromium. Close ends it.
func Start(options ...Option) (*Browser, error) {
	bin, err := exec.LookPath("chromium")
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
	b := new(Browser)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	b.cancel = append(b.cancel, cancel)
	b.ctx, cancel = chromedp.NewContext(ctx)
	b.cancel = append(b.cancel, cancel)
	if err := chromedp.Do(b.ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("%s does not start: %w", bin, err)
	}
	return b, nil
}

// Close ends Chromium.
func (b *Browser) Close() {
	for i := len(b.cancel) - 1; i >= 0; i-- {
		b.cancel[i]()
	}
}

// Version is what the browser calls itself.
func (b *Browser) Version() (string, error) {
	v, err := chromedp.CallBrowser(b.ctx, browser.GetVersion, cdp.Empty{})
	return v.Product, err
}
