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

// hashOf is what a Content-Security-Policy calls a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// serveList gives the page with the directory's traces, which then asks for them.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	if _, err := s.shelf.look(); err != nil { // what will be asked for
		refuse(w, http.StatusInternalServerError, sentence(fmt.Errorf("listing the traces: %w", err)))
		return
	}
	w.Header().Set("Content-Security-Policy", listCSP)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, listPage)
}

// serveTraces gives what the directory holds as JSON. Who asks again with the tag of the last
// answer is told if it is still the same.
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
