package live

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

var (
	//go:embed list.html
	listHTML string
	//go:embed list.css
	listCSS string
	//go:embed list.js
	listJS string

	listPage = strings.NewReplacer("{{.Style}}", listCSS, "{{.Script}}", listJS).Replace(listHTML)
	listCSP  = strict + "; style-src '" + hashOf(listCSS) + "'; script-src '" + hashOf(listJS) + "'; connect-src 'self'"
)

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
	w.Header().Set("Content-Security-Policy", listCSP)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, listPage)
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
