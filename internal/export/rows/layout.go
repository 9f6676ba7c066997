package rows

import (
	"context"
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/trace"
)

// Lay passes t to the sink. It stops with ctx's error once ctx is done. ends selects calls
// of Sink.End; cpu adds the known CPU time to the arguments.
func Lay(ctx context.Context, t *trace.Trace, sink Sink, o Options, ends, cpu bool) error {
	l := newLayout(t, sink, o)
	l.wantEnds, l.wantCPU = ends, cpu
	defer l.beats.Stop()
	if len(t.GoTraces()) > 0 && samples.Has(t) {
		if err := l.keepSamples(ctx, &o); err != nil {
			return err
		}
	}
	var failed error
	watch := o.Watch()
	all := o.Range()
	all.Detail = trace.Tracks // rows have their own
	err := t.Events(all, func(e *trace.Event) bool {
		if failed = watch.Look(ctx, e.Start); failed != nil {
			return false
		}
		l.until(e.Start)
		l.event(e)
		failed = sink.Full()
		return failed == nil
	})
	if failed != nil {
		return fmt.Errorf("laying the trace out: %w", failed)
	}
	l.finish()
	if o.States && err == nil {
		err = l.states(ctx, &o)
	}
	if err == nil {
		err = l.samples(ctx, &o)
	}
	return errors.Join(err, l.beats.Err, sink.Full())
}

// layout is one run of Lay.
type layout struct {
	t        *trace.Trace
	sink     Sink
	wantEnds bool
	wantCPU  bool
	choice   *analysis.Choice // by name and row
	byTrack  *analysis.Choice // by row alone
	breaks   analysis.Breaks
	last     int64 // the trace's end
	lister   *args.Lister
	list     []args.Arg
	beats    *analysis.Beats
	before   pulse // of the last beat
	ends     ends
	locks    locks
	kept     kept

	byKey      map[uint64]*goroutine
	latest     *goroutine // goroutine of the last event
	goroutines int32
	others     uint32 // number of rows whose id is not a goroutine's
	scope      Scope
	end        End
}

func newLayout(t *trace.Trace, sink Sink, o Options) *layout {
	l := &layout{
		t: t, sink: sink, byKey: map[uint64]*goroutine{}, breaks: t.Breaks(), last: t.End(), lister: args.NewLister(t.Name),
		choice:  o.Choice(t),
		byTrack: analysis.NewChoice(glob.Filter{}, o.Tracks, t.Name),
		beats:   o.Beats(t),
		locks:   newLocks(),
	}
	return l
}

// until passes on the heartbeats and ends up to now.
func (l *layout) until(now int64) {
	for ; l.beats.Next != nil && l.beats.Next.Time <= now; l.beats.Advance() {
		l.gauges(l.beats.Next)
	}
	for len(l.ends.heap) > 0 && l.ends.heap[0].end <= now {
		x := l.ends.pop()
		l.over(&x)
	}
}

func (l *layout) finish() {
	for len(l.ends.heap) > 0 {
		x := l.ends.pop()
		l.over(&x)
	}
	for ; l.beats.Next != nil; l.beats.Advance() {
		l.gauges(l.beats.Next)
	}
}

func (l *layout) event(e *trace.Event) {
	switch e.Kind {
	case format.KindTrack, format.KindGo:
		if e.Goid != 0 && l.byTrack.Keep(e) {
			l.named(l.goroutine(e), e)
		}
	case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold:
		if l.choice.Keep(e) {
			l.begin(l.goroutine(e), e)
		}
	case format.KindEvent, format.KindPending:
		if l.choice.Keep(e) {
			l.sink.Instant(l.row(l.goroutine(e), 0), e, l.arguments(e))
		}
	case format.KindCounter:
		if l.choice.Keep(e) {
			l.sink.Counter(e, l.arguments(e))
		}
	}
}

func (l *layout) goroutine(e *trace.Event) *goroutine {
	key := KeyOf(e)
	g := l.latest
	if g == nil || g.key != key {
		g = l.byKey[key]
		if g == nil {
			g = &goroutine{key: key}
			l.byKey[key] = g
		}
		l.latest = g
	}
	if e.Track != format.NameEmpty && e.Goid != 0 {
		g.track = e.Track
	}
	return g
}

// named handles a track or go record. The link starts at the creator's row; there is none if
// that has not been shown.
func (l *layout) named(g *goroutine, e *trace.Event) {
	g.track = e.Name
	if e.Kind != format.KindGo || e.Creator == 0 {
		return
	}
	if c := l.byKey[e.Creator]; c != nil && len(c.rows) > 0 {
		g.link = &Link{ID: uint64(e.Loc), From: c.rows[0], FromTime: e.Created, ToTime: e.Start}
	}
}

// begin passes a scope to the sink and stores its end.
func (l *layout) begin(g *goroutine, e *trace.Event) {
	r := l.place(g, e)
	l.scope = Scope{Event: e, Row: r, Args: l.arguments(e)}
	if g.link != nil {
		g.link.To = r
		l.scope.Link, g.link = g.link, nil
	}
	l.sink.Scope(&l.scope)
	x := running{end: e.Start + e.Dur, row: r}
	if (e.Kind == format.KindWait || e.Kind == format.KindHold) && len(e.Args) > 0 && e.Args[0].Type == format.SlotAddr {
		x.wait = l.locks.begin(e, r, g.key)
	}
	if e.Open {
		x.wait = nil
	}
	// An open scope of a merged trace ends with its process, and one left open with its
	// goroutine.
	if (!e.Open || x.end < l.last) && (l.wantEnds || x.wait != nil) {
		l.ends.push(x)
	}
}

// over handles the end of a scope.
func (l *layout) over(x *running) {
	var in *Link
	if x.wait != nil && x.wait.lock != 0 {
		in = l.locks.over(x)
	}
	switch {
	case l.wantEnds:
		l.end = End{Row: x.row, Time: x.end, In: in}
		l.sink.End(&l.end)
	case in != nil:
		l.sink.Handover(in)
	}
}
