package live

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// session is a loaded trace, shared by all clients.
//
// # Design
//
// Its goroutine, run, owns the file: it loads the index and, if the trace is being written,
// follows the growth while there are requests. Requests wait for ready, and then read the
// index and the status. A large trace is ready while it is still being read: requests that
// need all of it wait for whole. Dropping a session ends its goroutine.
//
// A session is over when its name refers to another file, or the file no longer has the data
// that was read. A request with one of its cursors is answered with a request to load the
// trace again, and a request for the whole trace gets another session.
type session struct {
	id    string // part of its cursors
	book  *book
	end   context.CancelFunc // ends run
	ready chan struct{}      // closed when the index may be used, or err is set
	whole chan struct{}      // closed when loading has completed, or failed
	began time.Time          // begin of loading
	err   error
	index *timeline.Index // also for a trace with damage, up to that

	// Of book.mu:
	waiting int       // requests that wait for ready; without any, loading stops
	asked   time.Time // time of the last request

	wake chan struct{} // has an element after a request

	known known // the goroutines' states

	mu     sync.Mutex
	status status
	change chan struct{} // closed at the next change
}

// status has the fields that change while a trace is followed.
type status struct {
	trace   *trace.Trace // its getters may be called under session.mu
	stat    os.FileInfo
	writer  string
	deleted bool
	broken  error // reading stopped here
	over    bool
}

// Intervals of reading a growing trace while there are requests, and of checking its name
// and its writer.
const (
	pollEvery  = 100 * time.Millisecond
	checkEvery = 500 * time.Millisecond
	askedFor   = 5 * time.Second // for this time after a request, a client is assumed to be there
)

// errOver is the error of requests for a session that was dropped meanwhile.
var errOver = errors.New("the trace was dropped while it was loaded; repeat the request")

// session returns the book's session once it is loaded.
func (s *Server) session(ctx context.Context, b *book) (*session, error) {
	b.mu.Lock()
	x := b.current
	if x != nil && x.stale() {
		x.end()
		x = nil
	}
	if x == nil {
		run, cancel := context.WithCancel(s.ctx)
		x = &session{
			id: secret(4), book: b, end: cancel,
			ready: make(chan struct{}), whole: make(chan struct{}), began: time.Now(), wake: make(chan struct{}, 1), change: make(chan struct{}),
		}
		b.current = x
		s.background(func() { x.run(run, s.most) })
	}
	x.waiting++
	x.ask()
	b.mu.Unlock()

	var err error
	select {
	case <-x.ready:
		err = x.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	x.waiting--
	x.asked = time.Now()
	return x, err
}

// has reports whether the session with an id is loaded, and not over.
func (b *book) has(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current != nil && b.current.id == id && !b.current.stale()
}

// ask records a request for the trace. book.mu is held.
func (x *session) ask() {
	x.asked = time.Now()
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// forget drops x. b.mu is held.
func (b *book) forget(x *session) {
	x.end()
	if b.current == x {
		b.current = nil
	}
}

// dropIdle drops sessions that have been unused for a while, and much sooner those that are
// still loading. It does not do so at once: a page whose request timed out asks again.
func (s *Server) dropIdle(ctx context.Context) {
	for pause(ctx, s.idle/100) {
		for _, b := range s.shelf.all() {
			b.mu.Lock()
			if x := b.current; x != nil && x.waiting == 0 {
				most := s.idle
				if !closed(x.whole) {
					most /= 20
				}
				if time.Since(x.asked) > most {
					b.forget(x)
				}
			}
			b.mu.Unlock()
		}
	}
}

// closed reports whether c is.
func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// pause waits; it returns false once ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// stale reports whether a loaded session is over. If its trace is not followed any more, it
// checks the file, as run no longer does.
func (x *session) stale() bool {
	if !closed(x.ready) {
		return false
	}
	if x.err != nil {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.status.over && !x.follows() {
		x.look()
	}
	return x.status.over
}

// follows reports whether the trace may still grow. x.mu is held.
func (x *session) follows() bool {
	st := &x.status
	return !st.over && st.broken == nil && growing(st.writer)
}

// look compares the opened file with the current one of that name. x.mu is held.
func (x *session) look() {
	st := &x.status
	now, err := x.book.stat()
	st.deleted = err != nil // or it is not accessible: the data stays
	switch {
	case err != nil:
	case !os.SameFile(st.stat, now):
		st.over = true
	case x.follows() || now.Size() == st.stat.Size() && now.ModTime().Equal(st.stat.ModTime()):
	default:
		// The file was written: by its writer at last, or another trace overwrote it.
		st.stat = now
		f, err := x.book.open()
		if err != nil {
			st.over = true
			return
		}
		defer f.Close()
		size, err := f.Size()
		h, _, bad := readHead(f) // each recording has its own id
		st.over = err != nil || bad != nil || h != st.trace.Header() || size < st.trace.Size()
	}
}
