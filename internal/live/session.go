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

// session is a trace that is loaded, for everybody who looks at it.
//
// # Design
//
// Its goroutine, run, has the file: it loads the index and, of a trace that is
// being written, follows the growth while somebody asks. Requests wait for
// ready, and then read the index and the status. A large trace is ready while it is
// still being read: who needs all of it waits for whole. Dropping a session is ending
// its goroutine.
//
// A session is over when its file is no longer what the name stands for, or
// does not hold any more what was read. Who asks with a cursor of it is told to
// load the trace again, and who asks for all of it gets another session.
type session struct {
	id    string // part of its cursors
	book  *book
	end   context.CancelFunc // ends run
	ready chan struct{}      // closed when the index may be asked, or err is set
	whole chan struct{}      // closed when it is loaded, or is not going to be
	began time.Time          // when loading did
	err   error
	index *timeline.Index // also of a trace that breaks off; then damage says where

	// Of book.mu:
	waiting int       // requests for ready; with none the loading stops
	asked   time.Time // when somebody last asked

	wake chan struct{} // has one: somebody asks

	known known // of what the goroutines did

	mu     sync.Mutex
	status status
	change chan struct{} // closed at the next change
}

// status is what changes while a trace is followed.
type status struct {
	trace   *trace.Trace // its getters are good under session.mu
	stat    os.FileInfo
	writer  string
	deleted bool
	broken  error // reading stopped here
	over    bool
}

// How often a trace that is being written is looked at while somebody asks, and
// how often its name and its writer are.
const (
	pollEvery  = 100 * time.Millisecond
	checkEvery = 500 * time.Millisecond
	askedFor   = 5 * time.Second // after a request somebody is still there
)

// errOver is the error of who waited for a session that was dropped meanwhile.
var errOver = errors.New("the trace was dropped while it was loaded; ask again")

// session returns the book's session when it is loaded.
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

// has reports whether the session of that id is loaded, and not over.
func (b *book) has(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current != nil && b.current.id == id && !b.current.stale()
}

// ask notes that somebody looks at the trace. book.mu is held.
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

// dropIdle drops what nobody has looked at for a while, and much sooner what is
// being loaded for nobody. It does not at once: a page that was not answered in
// time asks again.
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

// stale reports whether a loaded session is over. Of one whose trace is not
// followed any more nobody else looks.
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

// look compares the file that was opened with what its name stands for now.
// x.mu is held.
func (x *session) look() {
	st := &x.status
	now, err := x.book.stat()
	st.deleted = err != nil // or it can't be seen any more: what was read stays
	switch {
	case err != nil:
	case !os.SameFile(st.stat, now):
		st.over = true
	case x.follows() || now.Size() == st.stat.Size() && now.ModTime().Equal(st.stat.ModTime()):
	default:
		// Somebody has written to it: its writer at last, or another trace over it.
		st.stat = now
		f, err := x.book.open()
		if err != nil {
			st.over = true
			return
		}
		defer f.Close()
		size, err := f.Size()
		h, _, bad := readHead(f) // each recording has an id of its own
		st.over = err != nil || bad != nil || h != st.trace.Header() || size < st.trace.Size()
	}
}
