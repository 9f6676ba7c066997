package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/page"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// locksPart is the maximum number of holds, and changes of numbers of waiters, sent at once.
const locksPart = 40_000

// The Go execution trace is read completely each time. For a growing trace that is repeated
// while there are requests, at the earliest after again. It takes at most one part in
// shareOf of the time.
const (
	again   = time.Second
	noneFor = 4 * time.Second // if there was none
	shareOf = 10
)

// known has the goroutines' states as last read.
type known struct {
	mu      sync.Mutex
	states  *timeline.States
	problem string
	reading bool
	writer  string    // state of the writer when the reading began
	at      time.Time // end of the reading
	took    time.Duration
}

// serveWaits sends the goroutines' states and the holders of locks in a part of a trace, as
// finely as it is drawn. It does not wait for the Go execution trace to be read: the answer
// is marked as pending.
func (s *Server) serveWaits(w http.ResponseWriter, r *http.Request, b *book) {
	from, to, px, ok := part(w, r)
	if !ok {
		return
	}
	x, ok := s.load(w, r, b)
	if !ok {
		return
	}
	c := &timeline.Container{Locks: x.index.LockTile(from, to, locksPart)}
	known, problem, reading := x.statesNow(s)
	c.Pending = reading
	if known != nil {
		res := known.ResFor(from, to, s.most.part)
		if res > 0 {
			res = max(1, (to-from)/min(px, pixelsMax)/2) // drawn twice as finely as scopes
		}
		c.States, c.Problems = known.Tile(from, to, res, nil), known.Problems
	}
	if problem != "" {
		c.Problems = append(c.Problems[:len(c.Problems):len(c.Problems)], problem)
	}
	answer(w, c)
}

// statesNow returns the goroutines' states as last read. It starts another reading if there
// may be more.
func (x *session) statesNow(s *Server) (had *timeline.States, problem string, reading bool) {
	x.mu.Lock()
	writer := x.status.writer
	x.mu.Unlock()
	k := &x.known
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.at.IsZero() || growing(k.writer)
	rest := max(again, shareOf*k.took)
	if k.states == nil {
		rest = max(rest, noneFor)
	}
	due := k.at.IsZero() || !growing(writer) || time.Since(k.at) > rest
	if old && due && !k.reading {
		k.reading = true
		s.background(func() { x.readStates(writer, func() (*timeline.States, error) { return x.states(s.ctx) }) })
	}
	return k.states, k.problem, k.reading
}

// readStates reads the goroutines' states. writer is the state of the trace's writer.
func (x *session) readStates(writer string, read func() (*timeline.States, error)) {
	began := time.Now()
	list, err := read()
	k := &x.known
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writer = writer
	k.reading, k.at, k.took, k.problem = false, time.Now(), time.Since(began), ""
	if err != nil {
		k.problem = "The goroutines' states could not be read: " + sentence(err) + "."
		return
	}
	k.states = list
}

func (x *session) states(ctx context.Context) (*timeline.States, error) {
	t, done, err := x.book.reopen()
	if err != nil {
		return nil, err
	}
	defer done()
	x.mu.Lock()
	same := t.Header() == x.status.trace.Header()
	x.mu.Unlock()
	if !same {
		return nil, errors.New("another trace was recorded to the same path")
	}
	return timeline.LoadStates(ctx, t)
}

// reopen opens the current trace, to read all of it once. If it does not grow, scopes get
// the same CPU times as in its session.
func (b *book) reopen() (t *trace.Trace, done func(), err error) {
	f, err := b.open()
	if err != nil {
		return nil, nil, err
	}
	size, err := f.Size()
	if err == nil {
		t, err = open.Reader(f, size, open.Options{Processes: b.shelf.of.Processes, AsRecorded: true})
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if !growing(writerOf(f, t.Closed())) {
		states.Attach(t)
	}
	return t, func() { f.Close() }, nil
}

// reopened is reopen for a request; if ok is false it has answered the request.
func reopened(w http.ResponseWriter, r *http.Request, b *book) (t *trace.Trace, done func(), ok bool) {
	t, done, err := b.reopen()
	switch of := r.URL.Query().Get("of"); {
	case err == nil && of != "" && b.parts == nil && idOf(t.Header()) != of:
		done()
		refuseAnew(w)
	case err == nil:
		return t, done, true
	case errors.Is(err, format.ErrNotTrace), errors.Is(err, format.ErrEmpty), errors.Is(err, format.ErrNewer), errors.Is(err, format.ErrCorrupt):
		refuse(w, http.StatusUnprocessableEntity, sentence(err))
	default:
		refuse(w, http.StatusNotFound, sentence(err))
	}
	return nil, nil, false
}

// serveDoctor examines the current trace.
func (s *Server) serveDoctor(w http.ResponseWriter, r *http.Request, b *book) {
	t, done, ok := reopened(w, r, b)
	if !ok {
		return
	}
	defer done()
	says := page.DoctorSays(r.Context(), t, b.of(t), s.o.Bandwidth, s.advice(b))
	largeAnswer(w)
	if r.Context().Err() != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(says)
}

// serveAdvice sends the advice of the current raw file beside the trace, null if there is
// none: the program rewrites it each second.
func (s *Server) serveAdvice(w http.ResponseWriter, r *http.Request, b *book) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.advice(b))
}

// advice returns the advice of the raw file beside a trace; nil: there is none.
func (s *Server) advice(b *book) *page.Advice {
	if b.shelf.root == nil {
		return page.AdviceOf(b.shelf.path, s.o.Weights)
	}
	return page.AdviceIn(b.shelf.root, b.name, s.o.Weights)
}

// serveSamples sends the samples of the current trace, with their stacks.
func (s *Server) serveSamples(w http.ResponseWriter, r *http.Request, b *book) {
	t, done, ok := reopened(w, r, b)
	if !ok {
		return
	}
	defer done()
	samples, err := page.LoadSamples(r.Context(), t, b.of(t))
	largeAnswer(w)
	if err != nil { // the request was cancelled
		return
	}
	answer(w, &timeline.Container{Samples: samples})
}
