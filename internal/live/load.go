package live

import (
	"context"
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// bornWithin is the maximum time between a file's creation and its header.
const bornWithin = 5 * time.Second

// run loads the trace and follows it until ctx is done or it no longer grows.
func (x *session) run(ctx context.Context, most amounts) {
	defer func() {
		if !closed(x.whole) {
			close(x.whole)
		}
	}()
	f, err := x.book.open()
	if err != nil {
		x.err = err
		close(x.ready)
		return
	}
	defer f.Close()
	follower, err := x.load(ctx, f, most)
	if err != nil && closed(x.ready) { // the session is no longer in use
		x.mu.Lock()
		x.status.over = true
		x.mu.Unlock()
		return
	}
	if err != nil {
		x.err = fmt.Errorf("%s: %w", x.book.place(), err)
		if ctx.Err() != nil {
			x.err = errOver
		}
		close(x.ready)
		return
	}
	close(x.whole)
	if !closed(x.ready) {
		close(x.ready)
	}
	if follower != nil {
		x.follow(ctx, f, follower)
	}
	<-ctx.Done() // heartbeats and names are read on demand
}

// load fills the index. The follower is nil if the trace no longer grows.
func (x *session) load(ctx context.Context, f *hot.File, most amounts) (*trace.Follower, error) {
	t, err := born(ctx, f)
	if err != nil {
		return nil, err
	}
	writer, o := writerOf(f, t.Closed()), open.Options{Processes: x.book.shelf.of.Processes}
	var follower *trace.Follower
	if growing(writer) {
		// It begins before the trace is opened again and loaded, so nothing falls
		// between the two.
		if follower, err = open.Follower(f, f.Size, trace.FollowOptions{}, o); err != nil {
			return nil, err
		}
	}
	// The writer may have ended, or stopped, since the trace was first opened.
	stat, err := f.Trace().Stat()
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	o.AsRecorded = follower != nil // else what a scope has would depend on when it was read
	if t, err = open.Reader(f, size, o); err != nil {
		return nil, err
	}
	if t.WantsCPU() { // the scopes need the Go execution trace read: what goroutines did comes with that
		x.readStates(writer, func() (*timeline.States, error) { return timeline.LoadStates(ctx, t, states.CPUTimes(t)) })
	}
	x.status = status{trace: t, stat: stat, writer: writer}
	index, err := timeline.Load(ctx, t, timeline.LoadOptions{
		Follow: follower, Still: follower == nil, Size: most.size,
		Begun: func(index *timeline.Index) {
			x.index = index
			close(x.ready)
			if most.early != nil {
				most.early()
			}
		},
	})
	if index == nil {
		return nil, err
	}
	x.mu.Lock()
	x.status.broken = err
	x.mu.Unlock()
	if !closed(x.ready) {
		x.index = index
	}
	x.res(most)
	if follower != nil && err == nil {
		x.status.trace = follower.Trace()
		return follower, nil
	}
	return nil, nil
}

// growing reports whether a trace with such a writer may grow.
func growing(writer string) bool {
	return writer == timeline.WriterRunning || writer == timeline.WriterUnknown
}

// res returns the resolution of the whole trace; while it is being read, and soon sent
// again, a coarser one.
func (x *session) res(most amounts) int64 {
	from, to := x.index.Whole()
	if !closed(x.whole) {
		return x.index.ResFor(from, to, most.merged/4)
	}
	if x.index.Items() <= most.whole {
		return 0
	}
	return x.index.ResFor(from, to, most.merged)
}

// loading returns the progress of reading the trace; nil if it is complete.
func (x *session) loading() *timeline.Loading {
	share, loading := x.index.Loading()
	if !loading {
		return nil
	}
	took := time.Since(x.began)
	return &timeline.Loading{Share: share, Left: int64(float64(took) * (1 - share) / max(share, 0.001))}
}

// born opens the trace, and waits for the header of one that was just created.
func born(ctx context.Context, f *hot.File) (*trace.Trace, error) {
	for deadline := time.Now().Add(bornWithin); ; {
		n, err := f.Size()
		if err != nil {
			return nil, err
		}
		t, err := trace.Open(f, n)
		if err == nil || !blank(f) || time.Now().After(deadline) {
			return t, err
		}
		if !pause(ctx, pollEvery) {
			return nil, ctx.Err()
		}
	}
}
