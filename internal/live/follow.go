package live

import (
	"context"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// follow takes in what the trace grows by, until it does not any more.
func (x *session) follow(ctx context.Context, f *hot.File, follower *trace.Follower) {
	nextCheck := time.Now()
	for {
		writer := ""
		if now := time.Now(); !now.Before(nextCheck) {
			nextCheck = now.Add(checkEvery)
			writer = writerOf(f, false)
		}
		// If the writer is gone, this poll finds the last that it wrote.
		if !x.poll(follower, writer) {
			return
		}
		if !x.rest(ctx) {
			return
		}
	}
}

// poll looks at the trace once, and at its name where writer tells who writes
// it. more is false when that was the last time.
func (x *session) poll(follower *trace.Follower, writer string) (more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	st := &x.status
	before := *st
	if writer != "" {
		st.writer = writer
		x.look()
	}
	tick := follower.Trace().State().Tick
	news, done, err := x.index.Poll(follower)
	switch {
	case err != nil:
		// It was cut off, or written over.
		st.over = true
	case done:
		st.writer = timeline.WriterClosed
	}
	if news || st.writer != before.writer || st.deleted != before.deleted || st.over || follower.Trace().State().Tick != tick {
		x.tell()
	}
	if x.follows() {
		return true
	}
	// From now on it is the file as it is that does not change any more.
	if now, err := x.book.stat(); err == nil && os.SameFile(st.stat, now) {
		st.stat = now
	}
	return false
}

// tell wakes the requests that wait for a change. x.mu is held.
func (x *session) tell() {
	close(x.change)
	x.change = make(chan struct{})
}

// rest waits for the time of the next poll; while nobody looks that is when
// somebody comes. It returns false once ctx is done.
func (x *session) rest(ctx context.Context) bool {
	if !pause(ctx, pollEvery) {
		return false
	}
	for {
		x.book.mu.Lock()
		watched := time.Since(x.asked) < askedFor
		x.book.mu.Unlock()
		if watched {
			return true
		}
		select {
		case <-x.wake:
		case <-ctx.Done():
			return false
		}
	}
}
