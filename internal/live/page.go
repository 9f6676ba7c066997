package live

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/scopeview/scopeview/internal/page"
)

// servePage gives the page, which then asks for the trace. The trace is not
// touched yet: so there is something to see at once.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request, b *book) {
	with, ok := s.comparedWith(w, r)
	if !ok {
		return
	}
	if b.parts != nil && b.since("") != kept { // what its parts are now is another timeline
		http.Redirect(w, r, joinedAgain(b.parts), http.StatusSeeOther)
		return
	}
	policy, err := page.Policy(page.HomeLive)
	var body bytes.Buffer
	if err == nil {
		c := page.Config{Home: page.HomeLive, Base: baseOf(b)}
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

// comparedWith is the trace that a page compares its own with: the one whose number the address
// has, as the list writes it, or that of the command line. It is nil if there is none; if ok is
// false, the request is answered.
func (s *Server) comparedWith(w http.ResponseWriter, r *http.Request) (b *book, ok bool) {
	asked := r.URL.Query().Get("with")
	if asked == "" {
		return s.with, true
	}
	if n, err := strconv.Atoi(asked); err == nil {
		b = s.shelf.book(n)
	}
	if b == nil {
		refuse(w, http.StatusNotFound, "There is no trace of the number to compare with; tick two in the list of traces.")
	}
	return b, b != nil
}

// baseOf is what the paths of requests about a trace begin with.
func baseOf(b *book) string { return "/t/" + strconv.Itoa(b.number) + "/" }
