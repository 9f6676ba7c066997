// Package browser drives a headless Chromium or Firefox as a user would: it opens
// pages, presses keys, moves the mouse, and notes everything a page must never do.
package browser

// The window's size; at this one a page is looked at unless a test says otherwise.
const (
	Width  = 1400
	Height = 900
)

// Browser is a running Chromium or Firefox.
type Browser struct{ driver }

// driver is what the browsers do each in its own way.
type driver interface {
	// Version is what the browser calls itself.
	Version() (string, error)
	// Close ends the browser.
	Close()
	// newTab makes an empty tab that notes the page's faults.
	newTab(p *Page) (tab, error)
}

// tab is what the browsers' tabs do each in its own way.
type tab interface {
	navigate(address string) error
	// eval returns the JSON of what JavaScript evaluates to; it waits for promises.
	eval(js string) ([]byte, error)
	strike(s stroke, times int) error
	mouse(steps []step) error
	// Fingers has the screen touched in these places, and in no others: the first finger is
	// in the first one, and so on. The fingers that touch it already move there.
	Fingers(at ...Spot) error
	// see changes how the page is looked at; nothing in v is 0.
	see(v View) error
	// Type types text where the focus is.
	Type(text string) error
	// Wheel turns the wheel over a place.
	Wheel(x, y, dx, dy float64, modifiers ...Modifier) error
	// Picture is what the page looks like, as PNG.
	Picture() ([]byte, error)
	// SaveDownloads saves what the page lets the user download in a directory.
	SaveDownloads(into string) error
	// Before runs JavaScript in every page that is loaded from now on, before its
	// own.
	Before(js string) error
	// Close closes the tab.
	Close()
}
