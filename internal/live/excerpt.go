package live

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/excerpt"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// of returns the selection of the server for a trace: of an excerpt only its range of time is shown.
func (b *book) of(t *trace.Trace) analysis.Selection {
	sel := b.shelf.of
	_ = sel.Confine(t) // it selects no times, so nothing is outside
	return sel
}

// serveExcerpt sends a range of a trace as a trace of its own, for a page to save. It is written to a
// temporary file first, so that a failure has an answer.
func (s *Server) serveExcerpt(w http.ResponseWriter, r *http.Request, b *book) {
	from, to, ok := span(w, r)
	if !ok {
		return
	}
	f, err := b.open()
	if err != nil {
		refuse(w, http.StatusNotFound, sentence(err))
		return
	}
	h, _, err := readHead(f)
	if of := r.URL.Query().Get("of"); err == nil && of != "" && b.parts == nil && idOf(h) != of {
		f.Close()
		refuseAnew(w)
		return
	}
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		f.Close()
		refuse(w, http.StatusInternalServerError, sentence(fmt.Errorf("creating a directory for the excerpt: %w", err)))
		return
	}
	defer os.RemoveAll(dir)
	made, err := excerpt.Create(r.Context(), filepath.Join(dir, "excerpt"+extension), f, excerpt.Options{From: from, To: max(to, 1), Reason: "a range saved from the page of scopeview serve"})
	largeAnswer(w) // it may have taken long
	if err != nil {
		if r.Context().Err() == nil {
			refuse(w, statusOfExcerpt(err), sentence(err))
		}
		return
	}
	out, err := os.Open(made.Path)
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	defer out.Close()
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Length", strconv.FormatInt(made.Bytes, 10))
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": excerptName(b.name, made)}))
	io.Copy(w, out)
}

// statusOfExcerpt returns the status of a failed excerpt.
func statusOfExcerpt(err error) int {
	switch {
	case errors.Is(err, excerpt.ErrOutside):
		return http.StatusRequestedRangeNotSatisfiable
	case errors.Is(err, format.ErrNotTrace), errors.Is(err, format.ErrEmpty), errors.Is(err, format.ErrNewer), errors.Is(err, format.ErrCorrupt):
		return http.StatusUnprocessableEntity
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EFBIG):
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}

// excerptName returns the name of the file: the trace's, with the range in seconds.
func excerptName(trace string, made excerpt.Result) string {
	name := filepath.Base(trace)
	for _, end := range []string{packedExtension, extension} {
		name = strings.TrimSuffix(name, end)
	}
	seconds := func(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) + "s" }
	return name + "-" + seconds(made.From) + "-" + seconds(made.To) + extension
}
