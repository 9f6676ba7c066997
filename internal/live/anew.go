package live

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
)

// A page shows one recording: it has its id from the whole that it was given, and names it with each
// request, as of. Another recording under the same path is not mixed with it: the request is answered
// with 409, and the page says so.

// source is a recording that a timeline of several was made of.
type source struct {
	book *book
	id   string // "": it could not be read
}

func idOf(h format.Header) string { return hex.EncodeToString(h.ID[:]) }

// recording returns the id of the recording that lies under the name now. It is "" if there is none
// yet: its writer has just created the file.
func (b *book) recording() (id string, err error) {
	f, err := b.file()
	if err != nil {
		return "", err
	}
	defer f.Close()
	h, _, err := readHead(f)
	if err == nil {
		return idOf(h), nil
	}
	if blank(io.ReaderAt(f)) {
		return "", nil
	}
	return "", err
}

// anew reports whether another recording lies under the name than the one of that id, or nothing
// that is one. Of a timeline of several it looks at those that it was made of.
func (b *book) anew(id string) bool {
	if b.parts != nil {
		return slices.ContainsFunc(b.parts, func(p source) bool { return p.id != "" && p.book.anew(p.id) })
	}
	now, err := b.recording()
	if errors.Is(err, fs.ErrNotExist) {
		return false // removed, maybe for good
	}
	return err != nil || now != "" && now != id
}

// supersede drops the session of a recording that is not the one that is there any more: the page
// that is loaded again gets that.
func (b *book) supersede(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.current
	if x == nil || !closed(x.ready) || x.err != nil {
		return
	}
	x.mu.Lock()
	same := idOf(x.status.trace.Header()) == id
	x.mu.Unlock()
	if same {
		b.forget(x)
	}
}

// refuseAnew answers a request about another recording than the one that is there.
func refuseAnew(w http.ResponseWriter) {
	refuse(w, http.StatusConflict, "The trace was recorded anew under the same path: load the page again to see it.")
}

// serveSame answers a page that asks for nothing but whether what it shows is still there.
func (s *Server) serveSame(w http.ResponseWriter, _ *http.Request, b *book) {
	if _, err := b.stat(); err != nil {
		refuse(w, http.StatusNotFound, sentence(err))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// other reports whether a request is about another recording than the session's.
func (x *session) other(r *http.Request) bool {
	of := r.URL.Query().Get("of")
	if of == "" || x.book.parts != nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status.trace != nil && idOf(x.status.trace.Header()) != of
}

// joinedAgain returns the address at which a timeline is made of what its parts are now.
func joinedAgain(parts []source) string {
	q := url.Values{}
	for _, p := range parts {
		q.Add("t", strconv.Itoa(p.book.number))
	}
	return "/joined?" + q.Encode()
}
