// Package html writes the timeline of a trace as one HTML file, which needs nothing else: it
// opens from disk in any current browser, without a network, and can be mailed. It is what
// `scopeview html` writes; the tool chooses names, rows and times besides.
package html

import (
	"context"
	"io"

	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/page"
	"github.com/scopeview/scopeview/internal/timeline"
)

// Write writes the trace at path to w as a page. The trace may be one that is being recorded:
// the page has what it has now. Where it has more than 5,000,000 scopes, those that are too
// short to be seen are merged with their neighbours, and the page says so.
//
// It reads the trace several times, and holds the page's scopes in memory. It returns
// the error of reading or of w, or that of ctx once ctx is done. w may have a part of the
// page then.
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
