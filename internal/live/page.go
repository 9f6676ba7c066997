package live

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/scopeview/scopeview/internal/page"
)

// servePage sends the page, which then requests the trace. It does not read the trace, so
// the page appears at once.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request, b *book) {
	with, ok := s.comparedWith(w, r)
	if !ok {
		return
	}
	if b.parts != nil && b.since("") != kept { // the parts have been replaced: their timeline is another one
		http.Redirect(w, r, joinedAgain(b.parts), http.StatusSeeOther)
		return
	}
	policy, err := page.Policy(page.HomeLive)
	var body bytes.Buffer
	if err == nil {
		c := page.Config{Home: page.HomeLive, Base: baseOf(b), List: s.shelf.root != nil}
		if with != nil && b != with {
			c.With = baseOf(with)
		}
		err = page.Page(&body, c)
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.Write(body.Bytes())
}

// comparedWith returns the trace to compare a page's with: the one whose number the address
// has, as written by the list, or that of the command line. It is nil if there is none; if
// ok is false, it has answered the request.
func (s *Server) comparedWith(w http.ResponseWriter, r *http.Request) (b *book, ok bool) {
	asked := r.URL.Query().Get("with")
	if asked == "" {
		return s.with, true
	}
	if n, err := strconv.Atoi(asked); err == nil {
		b = s.shelf.book(n)
	}
	if b == nil {
		refuse(w, http.StatusNotFound, "There is no trace with the number to compare with; tick two in the list of traces.")
	}
	return b, b != nil
}

// baseOf returns the path prefix of requests about a trace.
func baseOf(b *book) string { return "/t/" + strconv.Itoa(b.number) + "/" }
