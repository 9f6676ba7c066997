package live

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/scopeview/scopeview/export/html"
)

// servePage gives the page, which then asks for the trace. The trace is not
// touched yet: so there is something to see at once.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request, b *book) {
	policy, err := html.Policy(html.HomeLive)
	var page bytes.Buffer
	if err == nil {
		err = html.Page(&page, html.Config{Home: html.HomeLive, Base: "/t/" + strconv.Itoa(b.number) + "/"})
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page.Bytes())
}
