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

// A page shows one recording: it learns its id from the whole, and sends it with each
// request, as of. Another recording under the same path is not mixed with it: the request is
// answered with 409, or with 410 if the file has become shorter or is no recording, and the
// page reports that.

// source is a recording that is part of a joint timeline.
type source struct {
	book *book
	id   string // "": unreadable
}

// extent is the length of the file of a recording that is no longer written.
type extent struct {
	id   string
	size int64
}

func idOf(h format.Header) string { return hex.EncodeToString(h.ID[:]) }

// State of a page's recording.
const (
	kept   = iota
	anew   // another one has its name
	spoilt // its file has become shorter, or is no recording
)

// recording returns the id of the current recording of that name, and the length of its
// file. They are "" and 0 if there is none yet: its writer has just created the file. A
// closed file keeps its length.
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

// since returns the state of the recording with an id; for a joint timeline it checks all
// parts. A recording that was removed or can't be reached is kept: it may come back.
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

// note stores the length of the file that session x has in full.
func (b *book) note(x *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if st := &x.status; st.stat != nil && st.trace != nil && (st.writer == timeline.WriterClosed || st.writer == timeline.WriterGone) {
		b.settled = extent{idOf(st.trace.Header()), st.stat.Size()}
	}
}

// supersede drops the session of a recording that was replaced: the reloaded page gets the
// new one.
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

// refuseAnew answers a request about a recording that was replaced.
func refuseAnew(w http.ResponseWriter) {
	refuse(w, http.StatusConflict, "Another trace was recorded to the same path: reload the page to see it.")
}

// serveSame answers a page that only checks whether its recording still exists.
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

// joinedAgain returns the address for joining the current recordings of the parts.
func joinedAgain(parts []source) string {
	q := url.Values{}
	for _, p := range parts {
		q.Add("t", strconv.Itoa(p.book.number))
	}
	return "/joined?" + q.Encode()
}
