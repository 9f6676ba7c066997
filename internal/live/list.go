package live

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/internal/page"
)

var (
	//go:embed list.html
	listHTML string
	//go:embed list.css
	listCSS string
	//go:embed list.js
	listJS string
)

// listPage has the page of the list, and its Content-Security-Policy.
type listPage struct{ text, policy string }

var listParts = sync.OnceValues(func() (listPage, error) {
	script, err := page.Script("view/numbers.js", listJS)
	return listPage{
		strings.NewReplacer("{{.Style}}", listCSS, "{{.Heads}}", listHeads(), "{{.Script}}", script).Replace(listHTML),
		strict + "; style-src '" + hashOf(listCSS) + "'; script-src '" + hashOf(script) + "'; connect-src 'self'",
	}, err
})

// listHeads returns the heads of the list's columns.
func listHeads() string {
	var b strings.Builder
	for _, h := range columns.Hints() {
		fmt.Fprintf(&b, `<th scope="col" title="%s">%s</th>`, html.EscapeString(h.Says), h.Head)
	}
	return b.String()
}

// hashOf returns the hash of a text for a Content-Security-Policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// serveList sends the page of the list, which then requests the traces.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	if _, err := s.shelf.look(); err != nil { // the page will request it
		refuse(w, http.StatusInternalServerError, sentence(fmt.Errorf("listing the traces: %w", err)))
		return
	}
	p, err := listParts()
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, p.text)
}

// newestPath is the path that leads to the newest trace of a directory.
const newestPath = "/newest"

// serveNewest redirects to the page of the newest trace, or to the list if no trace can be shown.
func (s *Server) serveNewest(w http.ResponseWriter, r *http.Request) {
	to := "/"
	if list, err := s.shelf.look(); err == nil && len(list.Traces) > 0 && list.Traces[0].Number >= 0 {
		to = baseOf(s.shelf.book(list.Traces[0].Number))
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// serveTraces sends the directory's traces as JSON. It answers a request with the tag of the
// current list with 304.
func (s *Server) serveTraces(w http.ResponseWriter, r *http.Request) {
	list, err := s.shelf.look()
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(fmt.Errorf("listing the traces: %w", err)))
		return
	}
	s.readSlow()
	b, err := json.Marshal(list)
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	tag := `"` + hashOf(string(b)) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
}
