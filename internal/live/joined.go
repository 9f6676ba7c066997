package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/merge"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/trace"
)

// Limits of joint timelines.
const (
	joinedOf   = 64 // traces
	joinedKept = 4  // timelines; the oldest is removed
	joinedFor  = 30 * time.Second
)

// timelines are the joint timelines. Their files are removed with the server.
type timelines struct {
	mu   sync.Mutex
	dir  string // "": none created yet
	made int
	list []*joined  // oldest first
	one  sync.Mutex // held while a timeline is made
}

// joined is a joint timeline of several traces, finished or in progress.
type joined struct {
	key   string       // identifies the traces and their states
	asked atomic.Int64 // time of the last request, ns since 1970
	share atomic.Int64 // percent of the traces read
	done  chan struct{}
	book  *book // set when done; nil: there is an error
	path  string
	err   error
}

// serveJoined redirects to the timeline of the traces whose numbers the address has. While
// it is being made it sends the progress, and the browser asks again.
func (s *Server) serveJoined(w http.ResponseWriter, r *http.Request) {
	books, ok := s.joinable(w, r)
	if !ok {
		return
	}
	j := s.timelineOf(books)
	j.asked.Store(time.Now().UnixNano())
	select {
	case <-j.done:
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, joiningPage, len(books), j.share.Load())
		return
	}
	if j.err != nil {
		s.timelines.forget(j) // another request may succeed
		refuse(w, http.StatusUnprocessableEntity, "The traces can't be merged into one timeline: "+sentence(j.err))
		return
	}
	http.Redirect(w, r, baseOf(j.book), http.StatusSeeOther)
}

const joiningPage = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="1">
<meta name="color-scheme" content="light dark">
<title>scopeview</title>
<h1>One timeline of %d traces</h1>
<p role="status">%d%% of them are read. The timeline opens when it is ready.</p>
<p><a href="/">Back to the list</a></p>
`

// joinable returns the traces whose numbers the address has; if ok is false, it has answered
// the request.
func (s *Server) joinable(w http.ResponseWriter, r *http.Request) (books []*book, ok bool) {
	for _, text := range r.URL.Query()["t"] {
		n, err := strconv.Atoi(text)
		b := s.shelf.book(n)
		if err != nil || b == nil {
			refuse(w, http.StatusNotFound, "There is no trace with one of the numbers; tick some in the list of traces.")
			return nil, false
		}
		if !slices.Contains(books, b) {
			books = append(books, b)
		}
	}
	if len(books) < 2 || len(books) > joinedOf {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("A timeline takes 2 to %d traces; these are %d.", joinedOf, len(books)))
		return nil, false
	}
	return books, true
}

// timelineOf returns the timeline of the traces in their current state, and starts it if
// there is none.
func (s *Server) timelineOf(books []*book) *joined {
	var key strings.Builder
	for _, b := range books {
		fmt.Fprintf(&key, "%d ", b.number)
		if st, err := b.stat(); err == nil {
			fmt.Fprintf(&key, "%d %d ", st.Size(), st.ModTime().UnixNano())
		}
	}
	t := &s.timelines
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.list {
		if j.key == key.String() {
			return j
		}
	}
	j := &joined{key: key.String(), done: make(chan struct{})}
	j.asked.Store(time.Now().UnixNano())
	t.list = append(t.list, j)
	s.background(func() {
		defer close(j.done)
		j.book, j.err = s.join(s.ctx, j, books)
	})
	return j
}

// errNobody is the error of a timeline that was abandoned because no request waited for it.
var errNobody = errors.New("the request was abandoned; repeat it")

// join makes the joint timeline. It reads the traces that the list found, and does not
// follow links that may have replaced them.
func (s *Server) join(ctx context.Context, j *joined, books []*book) (*book, error) {
	s.timelines.one.Lock()
	defer s.timelines.one.Unlock()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	path, err := s.timelines.path(len(books))
	if err != nil {
		return nil, err
	}
	var inputs []merge.Input
	var parts []source
	for _, b := range books {
		is, _, _ := b.recording()
		parts = append(parts, source{b, is.id})
		inputs = append(inputs, merge.Input{Name: b.name, Open: b.trace})
	}
	_, err = merge.Files(ctx, inputs, path, func(done, of int64) {
		j.share.Store(100 * done / max(of, 1))
		if time.Now().UnixNano()-j.asked.Load() > int64(joinedFor) {
			stop(errNobody)
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		os.Remove(path)
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	j.path = path
	made, err := newShelf(path, s.shelf.of)
	if err != nil {
		return nil, err
	}
	b := made.book(0)
	b.parts = parts
	s.shelf.lend(b)
	s.timelines.thin()
	return b, nil
}

// trace opens the trace; closing it closes its file.
func (b *book) trace(ctx context.Context) (*trace.Trace, error) {
	f, err := b.open()
	if err != nil {
		return nil, err
	}
	t, err := open.Joined(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.place(), err)
	}
	return t, nil
}

// path returns a path for a new timeline's file.
func (t *timelines) path(of int) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == "" {
		dir, err := os.MkdirTemp("", "scopeview-")
		if err != nil {
			return "", fmt.Errorf("creating a directory for the timeline: %w", err)
		}
		t.dir = dir
	}
	t.made++
	return filepath.Join(t.dir, fmt.Sprintf("%d-traces-%d%s", of, t.made, extension)), nil
}

// thin removes the oldest timelines. A page that shows one keeps the data it has.
func (t *timelines) thin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := 0
	for i := len(t.list) - 1; i >= 0; i-- {
		if j := t.list[i]; j.path == "" {
			continue // in progress
		} else if made++; made > joinedKept {
			os.Remove(j.path)
			t.list = slices.Delete(t.list, i, i+1)
		}
	}
}

func (t *timelines) forget(j *joined) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = slices.DeleteFunc(t.list, func(x *joined) bool { return x == j })
}

// remove removes the files. No timeline may be in progress.
func (t *timelines) remove() {
	if t.dir != "" {
		os.RemoveAll(t.dir)
	}
}
