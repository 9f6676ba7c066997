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

// LoadOptions say what of a trace is loaded.
type LoadOptions struct {
	From, To int64 // ns from the trace's start; To 0: no limit. Scopes that touch the range are in
	// Keep says which events are in; nil: all.
	Keep func(*trace.Event) bool
	// Follow, if there is one, will deliver what ends from now on; it was made
	// before t was opened. What both deliver is taken once.
	Follow *trace.Follower
	// Progress, if there is one, is called now and then with the start of the
	// event that is being loaded.
	Progress func(ns int64)
	// Still tells that nobody writes the trace any more, though it is not closed.
	Still bool
	// Whole, if it is not 0, tells that of a large trace only tiles of the whole are asked for,
	// of so many items at most.
	Whole int64
	// Begun, if there is one, is given the index of a large trace that takes some time. Its
	// answers are of what was read by then.
	Begun func(*Index)

	// Size says how a large trace is kept; zero: as is usual.
	Size Size
}

// Size says what of a large trace is kept.
type Size struct {
	From  int64 // bytes of a trace that is large
	Runs  int   // that are kept at most
	Every int64 // items of a stretch, about
	Most  int64 // items that are looked at at once, and kept, one by one
	// Running is how many times the items that run when a stretch begins it has at least: those
	// are kept.
	Running int64
	Early   time.Duration // after so long it may be asked, though it is still read
}

// A trace of usualSize.From bytes has four million scopes. Some 14 bytes are kept for each run
// of a lane that has many, and a stretch is read in two milliseconds.
var usualSize = Size{From: 128 << 20, Runs: 4 << 20, Every: 16 << 10, Most: 2 << 20, Running: 16, Early: 250 * time.Millisecond}

// textMost is how many bytes of arguments are kept of runs of one.
const textMost = 64 << 20

// mostRuns is how many runs are kept of the largest traces.
const mostRuns = 88 << 20

// thinSize says how an index of t is to be, and whether it may be thin: of all that is in
// a trace that does not change.
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

// Load reads t into an index. It stops with ctx's error once ctx is done. Of a
// trace that breaks off there is an index of what could be read beside the error.
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

// hasWhole reports whether a thin index has a tile of the whole, with most items at most, at
// the finest resolution that there is for it.
func (x *Index) hasWhole(most int64) bool {
	from, to := x.Whole()
	if x.Count(from, to) <= most {
		return false
	}
	// Without waits among others: at half of the resolution there were more than most.
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

// loadEvents takes in every event.
func (x *Index) loadEvents(ctx context.Context, t *trace.Trace, o *LoadOptions) error {
	events := t.Events
	if o.Follow != nil {
		events = func(eo trace.Options, f func(*trace.Event) bool) error { return o.Follow.Events(t, eo, f) }
		// A writer may be interrupted between reading the clock and storing, but
		// not for a second while others go on.
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

// loadBatches takes a large trace into a thin index. After each batch who asks has a turn.
func (x *Index) loadBatches(ctx context.Context, t *trace.Trace, o *LoadOptions) error {
	begin := time.Now()
	watch := analysis.Watch{Progress: o.Progress}
	spare := sync.Pool{New: func() any { return &batch{} }}
	// A batch makes a stretch, and fits a processor's own cache.
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
