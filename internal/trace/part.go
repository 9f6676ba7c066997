package trace

import (
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// Part is a part of a trace's time, with its events. All events of a part come before those of the
// next one.
type Part struct {
	p      *player
	st     *stretch
	more   bool
	failed error
}

// EachPart runs over the events that Options select in parts, several at once on goroutines of its
// own. Each of these calls worker once, and the returned function with one part after the other.
// done is called with the results, in order, on the caller's goroutine, until it returns false. If
// a part ends early, its result is the last.
//
// The parts of a trace do not depend on the machine.
func EachPart[R any](t *Trace, o Options, worker func() func(*Part) R, done func(R) bool) error {
	type outcome struct {
		value  R
		more   bool
		failed error
	}
	r, err := t.newEventRun(&o)
	if err != nil {
		return err
	}
	work := func() func(*stretch) {
		p, f := r.newPlayer(), worker()
		return func(st *stretch) {
			x := &Part{p, st, true, st.failed}
			st.value = outcome{f(x), x.more, x.failed}
		}
	}
	return r.run(r.workers(), work, func(st *stretch) (bool, error) {
		x := st.value.(outcome)
		return done(x.value) && x.more, x.failed
	})
}

// Events calls f with the part's events, as Trace.Events does. If f returns false the part ends
// early.
func (x *Part) Events(f func(*Event) bool) { x.more, x.failed = x.p.play(x.st, f) }

// Due waits until done has been called for all parts before this one: their results are final then,
// and this part's need not be kept for done. It returns false if done has returned false.
func (x *Part) Due() bool {
	if x.st.due == nil {
		return true
	}
	select {
	case <-x.st.due:
		return true
	case <-x.p.r.quit:
		return false
	}
}

// Running calls f with the scopes that began in earlier parts, by begin, and run on a row of which
// this part has an event. They have been reported up to the time since. Other running scopes are
// reported by the next part with an event of their row, or by the last part. A scope that ends
// before one that began later on its row may be left out.
//
// Only Kind, Name, Goid, Track, Loc, Start, Dur and Open are set.
func (x *Part) Running(f func(since int64, e *Event)) {
	var e Event
	d := &x.p.decoder
	for row := range x.st.rows.all {
		if row.running == nil {
			continue
		}
		for k := range row.running.runs {
			if d.runner(&e, &row.running.runs[k]); x.p.r.o.From > 0 && e.Start+e.Dur < x.p.r.o.From || !x.p.t.selects(e.Goid) {
				continue
			}
			f(d.starts.Nanos(row.running.since), &e)
		}
	}
}

// runner sets an event from a scope that continues.
func (d *decoder) runner(e *Event, r *continuing) {
	rec := format.Record{Start: r.key, Stop: r.stop, Head: r.head}
	d.begin(e, &rec, r.key, &recordLoc{loc: r.loc})
	e.Track = r.track
	if e.Open = r.stop == format.MaxTicks; e.Open {
		d.runs(e)
	} else {
		e.Dur = d.stops.Nanos(r.stop) - e.Start
		e.Open, e.Left = r.goroutineEnded, r.goroutineEnded
	}
}

// Until returns the end of the part, in ns from the trace's start: no later part has an event
// before it. last means that there is no later part.
func (x *Part) Until() (ns int64, last bool) {
	return x.p.t.Nanos(min(x.st.to, max(x.p.t.last, x.st.from))), x.st.last
}

// Span returns the part's range of the trace's time: everything after one time and up to another
// belongs to it. The first part has no lower bound, and the last no upper one.
func (x *Part) Span() (after, until int64) {
	after, until = x.p.t.Nanos(x.st.from), x.p.t.Nanos(min(x.st.to, format.MaxTicks))
	if x.st.first {
		after = math.MinInt64
	}
	if x.st.last {
		until = math.MaxInt64
	}
	return after, until
}
