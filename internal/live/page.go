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
	policy, err := page.Policy(page.HomeLive)
	var body bytes.Buffer
	if err == nil {
		c := page.Config{Home: page.HomeLive, Base: baseOf(b)}
		if s.with != nil && b != s.with {
			c.With = baseOf(s.with)
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

// baseOf is what the paths of requests about a trace begin with.
func baseOf(b *book) string { return "/t/" + strconv.Itoa(b.number) + "/" }
