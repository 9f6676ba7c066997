package live

import (
	"context"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// follow adds the growth of the trace, until that ends.
func (x *session) follow(ctx context.Context, f *hot.File, follower *trace.Follower) {
	nextCheck := time.Now()
	for {
		writer := ""
		if now := time.Now(); !now.Before(nextCheck) {
			nextCheck = now.Add(checkEvery)
			writer = writerOf(f, false)
		}
		// If the writer is gone, this poll reads its last records.
		if !x.poll(follower, writer) {
			return
		}
		if !x.rest(ctx) {
			return
		}
	}
}

// poll reads the trace once, and checks its name if writer is set. more is false if that was
// the last time.
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
		// It was truncated, or overwritten.
		st.over = true
	case done:
		st.writer = timeline.WriterClosed
	}
	if news || st.writer != before.writer || st.deleted != before.deleted || st.over || follower.Trace().State().Tick != tick {
		x.notify()
	}
	if x.follows() {
		return true
	}
	// From now on the current file is the one that no longer changes.
	if now, err := x.book.stat(); err == nil && os.SameFile(st.stat, now) {
		st.stat = now
	}
	return false
}

// notify wakes the requests that wait for a change. x.mu is held.
func (x *session) notify() {
	close(x.change)
	x.change = make(chan struct{})
}

// rest waits for the time of the next poll, or without clients for the next request. It
// returns false once ctx is done.
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
