package live

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/timeline"
)

// amounts are the limits of what a page receives at once.
type amounts struct {
	whole  int64         // scopes of a trace, each exactly; with more they are merged
	merged int64         // items of a merged whole trace
	part   int64         // scopes in a part of it, each exactly
	runs   int64         // executions of a name, with their contents
	parts  int           // items of a request
	grown  int64         // items of a whole with later news; beyond it the page loads the whole again
	size   timeline.Size // of large traces; zero: default
	early  func()        // called when a trace may be used before it is read completely; may be nil
}

var usual = amounts{whole: 2_000_000, merged: 300_000, part: 100_000, runs: 1_000_000, parts: 20_000, grown: 4_000_000}

// pixelsMax exceeds the width of any screen.
const pixelsMax = 20_000

// serveWhole sends the whole trace: a page begins with it.
func (s *Server) serveWhole(w http.ResponseWriter, r *http.Request, b *book) {
	x, ok := s.load(w, r, b)
	if !ok {
		return
	}
	b.note(x)
	x.mu.Lock() // no news may come between the tile and its cursor
	from, to := x.index.Whole()
	loading, res := x.loading(), x.res(s.most)
	index, err := x.index.Window(r.Context(), from, to, res)
	if err != nil {
		x.mu.Unlock()
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	tile := index.Tile(from, to, res)
	at := x.index.Cursor()
	meta := x.meta(s.o.Version, tile.Res, 0)
	x.mu.Unlock()
	c := &cursor{session: x.id, res: tile.Res, items: tile.Items, first: at, next: at, beats: -1}
	if meta.Loading = loading; loading != nil {
		c.loading = 1
	}
	since(meta, c)
	answer(w, &timeline.Container{Meta: meta, Tile: tile})
}

// serveTile sends a part of a trace whose whole was merged, as finely as it is drawn.
func (s *Server) serveTile(w http.ResponseWriter, r *http.Request, b *book) {
	from, to, px, ok := part(w, r)
	if !ok {
		return
	}
	x, ok := s.load(w, r, b)
	if !ok {
		return
	}
	tile, err := s.tile(r.Context(), x, from, to, max(1, (to-from)/min(px, pixelsMax)))
	answerTile(w, r, tile, err)
}

// tile makes a tile.
func (s *Server) tile(ctx context.Context, x *session, from, to, res int64) (*timeline.Tile, error) {
	s.tiles.RLock()
	defer s.tiles.RUnlock()
	return x.index.Part(ctx, from, to, s.most.part, res)
}

// answerTile sends a tile, or the reason why there is none.
func answerTile(w http.ResponseWriter, r *http.Request, tile *timeline.Tile, err error) {
	switch {
	case err == nil:
		answer(w, &timeline.Container{Tile: tile})
	case r.Context().Err() == nil:
		refuse(w, http.StatusInternalServerError, sentence(err))
	}
}

// serveRuns sends the executions of a name in a part of a trace whose whole was merged, with
// their contents.
func (s *Server) serveRuns(w http.ResponseWriter, r *http.Request, b *book) {
	from, to, ok := span(w, r)
	if !ok {
		return
	}
	name, err := strconv.ParseUint(r.URL.Query().Get("name"), 10, 16)
	if err != nil {
		refuse(w, http.StatusBadRequest, "name must be the number of a name in the page's list of names.")
		return
	}
	x, ok := s.loadWhole(w, r, b)
	if !ok {
		return
	}
	tile, err := x.index.Runs(r.Context(), uint16(name), from, to, s.most.runs)
	largeAnswer(w)
	answerTile(w, r, tile, err)
}

// serveRequest sends the items of a request, by its trace id or the first digits of it.
func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request, b *book) {
	id := r.URL.Query().Get("trace")
	if len(id) < 8 || len(id) > 32 || strings.Trim(id, "0123456789abcdef") != "" {
		refuse(w, http.StatusBadRequest, "trace must be a trace id, or at least the first 8 of its 32 lower-case hexadecimal digits.")
		return
	}
	x, ok := s.loadWhole(w, r, b)
	if !ok {
		return
	}
	tile, err := x.index.Request(r.Context(), id, s.most.parts)
	answerTile(w, r, tile, err)
}

// loadWhole is like load, but waits until the trace is read completely.
func (s *Server) loadWhole(w http.ResponseWriter, r *http.Request, b *book) (x *session, ok bool) {
	if x, ok = s.load(w, r, b); !ok {
		return nil, false
	}
	select {
	case <-x.whole:
		return x, true
	case <-r.Context().Done():
		return nil, false
	}
}

// load returns the book's session; if ok is false, it has answered the request.
func (s *Server) load(w http.ResponseWriter, r *http.Request, b *book) (x *session, ok bool) {
	x, err := s.session(r.Context(), b)
	largeAnswer(w) // loading may have taken long
	switch {
	case err == nil && x.other(r):
		refuseAnew(w)
	case err == nil:
		return x, true
	case r.Context().Err() != nil:
	case errors.Is(err, errOver):
		refuse(w, http.StatusServiceUnavailable, sentence(err))
	case errors.Is(err, format.ErrNotTrace), errors.Is(err, format.ErrEmpty), errors.Is(err, format.ErrNewer), errors.Is(err, format.ErrCorrupt):
		refuse(w, http.StatusUnprocessableEntity, sentence(err))
	default:
		refuse(w, http.StatusNotFound, sentence(err))
	}
	return nil, false
}

// meta returns the facts about the trace, for a page whose whole was merged at res, and
// which has this many places of names. x.mu is held.
func (x *session) meta(version string, res, places int64) *timeline.Meta {
	st := &x.status
	m := x.index.Meta(st.trace, timeline.MetaOptions{
		Tool: version, Path: x.book.name, Writer: st.writer, Tile: &timeline.Tile{Res: res},
		Places: int(places), Part: x.partText(), More: "Zoom in to fetch a part in full.",
	})
	m.ID = idOf(st.trace.Header())
	if st.deleted {
		m.Banner = append(m.Banner, timeline.Said{Level: "warn", Text: "The trace's file was removed or can no longer be reached. The part already read is shown until scopeview serve ends, or the page is unused for a while."})
	}
	if st.broken != nil {
		m.Banner = append(m.Banner, timeline.Said{Level: "warn", Text: "Reading the trace failed: " + sentence(st.broken) + ". Later records are not shown."})
	}
	return m
}

// partText describes what of the trace is shown; "": all.
func (x *session) partText() string {
	sel := x.book.of(x.status.trace)
	return sel.Part()
}

// answer sends a container. It is packed in memory first, so that a slow reader does not
// block the index.
func answer(w http.ResponseWriter, c *timeline.Container) {
	var b bytes.Buffer
	if err := c.WriteTo(&b, flate.BestSpeed); err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.Write(b.Bytes())
}

// largeAnswer extends the deadline for an answer through a slow tunnel.
func largeAnswer(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(largeIn))
}

// part parses a span and its width in pixels.
func part(w http.ResponseWriter, r *http.Request) (from, to, px int64, ok bool) {
	if from, to, ok = span(w, r); !ok {
		return 0, 0, 0, false
	}
	px, err := strconv.ParseInt(r.URL.Query().Get("px"), 10, 64)
	if err != nil || px < 1 {
		refuse(w, http.StatusBadRequest, "px must be the number of pixels in which the part is drawn.")
		return 0, 0, 0, false
	}
	return from, to, px, true
}

// span parses from and to, in ns from the trace's start.
func span(w http.ResponseWriter, r *http.Request) (from, to int64, ok bool) {
	q := r.URL.Query()
	from, err1 := strconv.ParseInt(q.Get("from"), 10, 64)
	to, err2 := strconv.ParseInt(q.Get("to"), 10, 64)
	const limit = 1 << 53 // the page's numbers are doubles
	if err1 != nil || err2 != nil || from > to || from < -limit || to > limit {
		refuse(w, http.StatusBadRequest, "from and to must be ns from the trace's start, in this order.")
		return 0, 0, false
	}
	return from, to, true
}
