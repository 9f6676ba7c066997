package live

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/timeline"
)

// A page shows one recording: it has its id from the whole that it was given, and names it with each
// request, as of. Another recording under the same path is not mixed with it: the request is answered
// with 409, with 410 if what lies there is less than it was or no recording, and the page says so.

// source is a recording that a timeline of several was made of.
type source struct {
	book *book
	id   string // "": it could not be read
}

// extent is how long the file of a recording is that nobody writes any more.
type extent struct {
	id   string
	size int64
}

func idOf(h format.Header) string { return hex.EncodeToString(h.ID[:]) }

// What became of the recording of a page.
const (
	kept   = iota
	anew   // another one lies under its name
	spoilt // less of it does, or what is none
)

// recording returns the id of the recording that lies under the name now, and how long its file is.
// They are "" and 0 if there is none yet: its writer has just created the file. A file that was
// closed stays as long.
func (b *book) recording() (is extent, closed bool, err error) {
	f, err := b.file()
	if err != nil {
		return is, false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return is, false, err
	}
	h, state, err := readHead(f)
	if err == nil {
		return extent{idOf(h), st.Size()}, state.Closed, nil
	}
	if blank(io.ReaderAt(f)) {
		err = nil
	}
	return is, false, err
}

// since reports what became of the recording of that id. Of a timeline of several it looks at those
// that it was made of. One that was removed or can't be reached is kept: it may come back.
func (b *book) since(id string) int {
	if b.parts != nil {
		for _, p := range b.parts {
			if p.id == "" {
				continue
			}
			if is := p.book.since(p.id); is != kept {
				return is
			}
		}
		return kept
	}
	now, closed, err := b.recording()
	var system *fs.PathError
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.As(err, &system):
		return kept
	case err != nil:
		return spoilt
	case now.id != "" && now.id != id:
		return anew
	case b.settled.id == id && now.size < b.settled.size:
		return spoilt
	case closed:
		b.settled = now
	}
	return kept
}

// note remembers how long the file was of which the session x gives all.
func (b *book) note(x *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if st := &x.status; st.stat != nil && st.trace != nil && (st.writer == timeline.WriterClosed || st.writer == timeline.WriterGone) {
		b.settled = extent{idOf(st.trace.Header()), st.stat.Size()}
	}
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
