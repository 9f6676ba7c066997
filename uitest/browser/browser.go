// Package browser drives a headless Chromium or Firefox like a user: it opens pages, presses
// keys, moves the mouse, and records everything that a page must never do.
package browser

// The size of the window, unless a test chooses another.
const (
	Width  = 1400
	Height = 900
)

// Browser is a running Chromium or Firefox.
type Browser struct{ driver }

// driver has the browser-specific functions.
type driver interface {
	// Version returns the browser's version text.
	Version() (string, error)
	// Close ends the browser.
	Close()
	// newTab creates an empty tab that records the page's faults.
	newTab(p *Page) (tab, error)
}

// tab has the browser-specific functions of tabs.
type tab interface {
	navigate(address string) error
	// eval evaluates JavaScript and returns the result as JSON; it waits for promises.
	eval(js string) ([]byte, error)
	strike(s stroke, times int) error
	mouse(steps []step) error
	// Fingers sets the places where the screen is touched, the first finger's first. Fingers
	// that already touch it move there.
	Fingers(at ...Spot) error
	// see changes the view; no field of v is 0.
	see(v View) error
	// Type types text at the focus.
	Type(text string) error
	// Wheel turns the wheel over a place.
	Wheel(x, y, dx, dy float64, modifiers ...Modifier) error
	// Picture returns a screenshot as PNG.
	Picture() ([]byte, error)
	// SaveDownloads sets the directory for the page's downloads.
	SaveDownloads(into string) error
	// Before runs JavaScript in every page loaded from now on, before the page's own.
	Before(js string) error
	// Close closes the tab.
	Close()
}
