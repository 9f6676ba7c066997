// Package html writes the timeline of a trace as one self-contained HTML file, which opens
// from disk in any current browser, without a network, and can be mailed. `scopeview html`
// uses it, and also chooses names, rows and times.
package html

import (
	"context"
	"io"

	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/page"
	"github.com/scopeview/scopeview/internal/timeline"
)

// Write writes the trace at path to w as a page. The trace may still be recorded: the page
// contains the records so far. Of more than 5,000,000 scopes, those that are too short to be
// visible are merged with their neighbours, and the page says so.
//
// It reads the trace several times, and holds the page's scopes in memory. It returns the
// error of reading, of w or of ctx. On an error, w may contain a part of the page.
func Write(ctx context.Context, w io.Writer, path string) error {
	t, err := open.File(ctx, path)
	if err != nil {
		return err
	}
	defer t.Close()
	o := page.Options{Max: page.DefaultMax, Path: path, Writer: timeline.WriterUnknown}
	if t.Closed() {
		o.Writer = timeline.WriterClosed
	}
	return page.Write(ctx, w, t, o)
}
