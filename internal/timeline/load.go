package timeline

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// LoadOptions select what is loaded of a trace.
type LoadOptions struct {
	From, To int64 // ns from the trace's start; To 0: no limit. Scopes that touch the range are included
	// Keep reports whether an event is included; nil: all are.
	Keep func(*trace.Event) bool
	// Follow, if not nil, delivers later ends; it must be created before t is opened. Events
	// that both deliver count once.
	Follow *trace.Follower
	// Progress, if not nil, is called now and then with the start of the current event.
	Progress func(ns int64)
	// Still means that nothing writes the trace any more, though it is not closed.
	Still bool
	// Whole, if not 0, means that for a large trace only tiles of the whole are needed, with
	// at most this many items.
	Whole int64
	// Begun, if not nil, is called with the index of a large trace that takes some time to
	// load. Its results are of what has been read.
	Begun func(*Index)

	// Size sets the limits for a large trace; zero: defaults.
	Size Size
}

// Size has the limits for a large trace.
type Size struct {
	From  int64 // minimum size in bytes of a large trace
	Runs  int   // maximum number of runs kept
	Every int64 // approximate number of items per stretch
	Most  int64 // maximum number of items that are examined at once, and kept, individually
	// Running is the minimum size of a stretch, as a multiple of the items that run when it
	// begins: those are kept.
	Running int64
	Early   time.Duration // after this time the index may be used while loading
}

// usualSize has the defaults. A trace of From bytes has four million scopes. Each run of a
// lane with many takes some 14 bytes, and reading a stretch takes two milliseconds.
var usualSize = Size{From: 128 << 20, Runs: 4 << 20, Every: 16 << 10, Most: 2 << 20, Running: 16, Early: 250 * time.Millisecond}

// textMost is the maximum size in bytes of the arguments of single-item runs.
const textMost = 64 << 20

// mostRuns is the maximum number of runs for the largest traces.
const mostRuns = 88 << 20

// thinSize returns the limits for an index of t, and whether it may be thin: only for the
// whole of a trace that does not change.
func (o *LoadOptions) thinSize(t *trace.Trace) (size Size, ok bool) {
	size = o.Size
	if size.From == 0 {
		size = usualSize
		size.Runs = int(min(max(int64(size.Runs), t.Size()/format.RecordSize/6), mostRuns))
	}
	if o.Whole > 0 {
		size.Runs = int(min(o.Whole, math.MaxInt32))
		size.From = max(size.From, min(o.Whole, math.MaxInt64/format.RecordSize)*format.RecordSize)
	}
	ok = o.Follow == nil && o.Keep == nil && o.From == 0 && o.To == 0 && (t.Closed() || o.Still) && t.Overwritten().Records == 0
	return size, ok && t.Size() >= size.From
}

// Load reads t into an index. It stops with ctx's error once ctx is done. If reading fails
// it returns an index of the readable part with the error.
func Load(ctx context.Context, t *trace.Trace, o LoadOptions) (*Index, error) {
	x := newIndex(t)
	if size, ok := o.thinSize(t); ok {
		x.thin = newThin(size)
		x.thin.careful = o.Whole > 0
	}
	err := x.load(ctx, t, &o)
	if err == nil && x.thin != nil && o.Whole > 0 && !x.hasWhole(o.Whole) {
		x = newIndex(t)
		err = x.load(ctx, t, &o)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return x, err
}

// hasWhole reports whether a thin index has a tile of the whole, with at most most items, at
// the finest possible resolution for it.
func (x *Index) hasWhole(most int64) bool {
	from, to := x.Whole()
	if x.Count(from, to) <= most {
		return false
	}
	// Unless waits are mixed with others: at half of the resolution there were more than
	// most.
	return !x.thin.mixed || x.ResFor(from, to, most) > x.thin.finest()
}

// load fills an empty index.
func (x *Index) load(ctx context.Context, t *trace.Trace, o *LoadOptions) (err error) {
	if x.thin != nil {
		err = x.loadBatches(ctx, t, o)
	} else {
		err = x.loadEvents(ctx, t, o)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.arrange(t.End())
	if th := x.thin; th != nil {
		x.holdsIn(0)
		x.endRuns(true)
		th.loading, th.rows, th.threads = false, nil, nil
	}
	if o.Follow == nil && o.Keep == nil && err == nil {
		err = x.locks.count(t)
	}
	if o.Follow != nil {
		x.t = o.Follow.Trace()
		x.lister = args.NewLister(x.t.Name)
	}
	return err
}

// loadEvents adds every event.
func (x *Index) loadEvents(ctx context.Context, t *trace.Trace, o *LoadOptions) error {
	events := t.Events
	if o.Follow != nil {
		events = func(eo trace.Options, f func(*trace.Event) bool) error { return o.Follow.Events(t, eo, f) }
		// A writer may be interrupted between reading the clock and storing, but not for a
		// second while others continue.
		x.since = o.Follow.Trace().End() - int64(time.Second)
	}
	watch := analysis.Watch{Progress: o.Progress}
	x.mu.Lock()
	defer x.mu.Unlock()
	return events(trace.Options{From: o.From, To: o.To, Detail: trace.Tracks}, func(e *trace.Event) bool {
		if watch.Look(ctx, e.Start) != nil {
			return false
		}
		if o.Keep == nil || o.Keep(e) {
			x.take(e)
		}
		return true
	})
}

// loadBatches loads a large trace into a thin index. It releases the lock after each batch.
func (x *Index) loadBatches(ctx context.Context, t *trace.Trace, o *LoadOptions) error {
	begin := time.Now()
	watch := analysis.Watch{Progress: o.Progress}
	spare := sync.Pool{New: func() any { return &batch{threads: newThreadList()} }}
	// A batch makes a stretch, and fits into a processor's cache.
	part := max(int(min(x.thin.every, usualSize.Every))*format.RecordSize, 1)
	return trace.EachPart(t, trace.Options{Detail: trace.Tracks, Stretch: part}, func() func(*trace.Part) *batch {
		w := newBatcher(x)
		return func(p *trace.Part) *batch { return w.make(p, spare.Get().(*batch)) }
	}, func(b *batch) bool {
		x.mu.Lock()
		x.takeBatch(b)
		now := x.thin.now
		x.mu.Unlock()
		spare.Put(b)
		if o.Begun != nil && now > 0 && time.Since(begin) >= x.thin.early {
			o.Begun(x)
			o.Begun = nil
		}
		return watch.Up(ctx, now) == nil
	})
}
