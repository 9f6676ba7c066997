package trace

import (
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// Part is a part of a trace's time, with what is in there. All events of a part come before
// those of the next one.
type Part struct {
	p      *player
	st     *stretch
	more   bool
	failed error
}

// EachPart goes over the events that Options select in parts, several at once on goroutines
// of its own. Each of these has worker make it a function, and calls that with one part after
// the other. done gets what comes of the parts, in order, on the caller's goroutine, until it
// returns false. Where a part ends early, what comes of it is the last.
//
// How a trace is cut into parts does not depend on the machine.
func EachPart[R any](t *Trace, o Options, worker func() func(*Part) R, done func(R) bool) error {
	type outcome struct {
		value  R
		more   bool
		failed error
	}
	r, err := t.newReading(&o)
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

// Events calls f with the part's events, as Trace.Events does. Where f returns false the part
// ends early.
func (x *Part) Events(f func(*Event) bool) { x.more, x.failed = x.p.play(x.st, f) }

// Due waits until done has had all parts before this one: then what comes of them is over, and
// what comes of this one need not be kept for done. It returns false if done wants no more.
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

// Running calls f with the scopes that began in earlier parts, by begin, and run on a row of
// which this part has an event. They were told of up to the moment since. Of the others that
// run the next part tells that has an event of their row, or the last one. What a scope that
// began later on its row outlasts need not be among them.
//
// Only Kind, Name, Goid, Track, Loc, Start, Dur and Open are set.
func (x *Part) Running(f func(since int64, e *Event)) {
	var e Event
	d := &x.p.decoder
	for row := range x.st.rows.all {
		if row.begun == nil {
			continue
		}
		for k := range row.begun.runs {
			if d.runner(&e, &row.begun.runs[k]); x.p.r.o.From > 0 && e.Start+e.Dur < x.p.r.o.From || !x.p.t.keeps(e.Goid) {
				continue
			}
			f(d.starts.nanos(row.begun.since), &e)
		}
	}
}

// runner makes an event of a scope that goes on.
func (d *decoder) runner(e *Event, r *runner) {
	rec := format.Record{Start: r.key, Stop: r.stop, Head: r.head}
	d.begin(e, &rec, r.key, &where{loc: r.loc})
	e.Track = r.track
	if e.Open = r.stop == format.MaxTicks; e.Open {
		d.runs(e)
	} else {
		e.Dur = d.stops.nanos(r.stop) - e.Start
		e.Open, e.Left = r.left, r.left
	}
}

// Until returns up to when the part goes: no later one has an event before that. It is ns
// from the trace's start. last tells that there is no later one.
func (x *Part) Until() (ns int64, last bool) {
	return x.p.t.Nanos(min(x.st.to, max(x.p.t.last, x.st.from))), x.st.last
}

// Span returns the stretch of time that the part has of the trace: what happens behind one
// moment and up to another belongs to it. The first part begins, and the last one ends, with
// time itself.
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
