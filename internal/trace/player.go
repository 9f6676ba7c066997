package trace

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// Events calls f with every event in the order of Start (a parent before its
// children), until f returns false. The event is reused from call to call.
//
// A pending event comes at its stop: Start is the stop and Dur 0. If it is open it has not
// happened, and comes at its begin with Open set. Track and go records come too, with their own
// values; an event's Track has them applied.
//
// Records of a growing trace that began after it was opened are left out: chunks are read one after
// the other, so otherwise a scope might come that began after the end of another one, which was
// still open when its chunk was read.
//
// A ring also has events of overwritten records, from carries and ends apart. If only an end is
// left, Args are not known. Records that are overwritten before they are read are left out; see
// Overwritten.
//
// In a sound trace Start never decreases. In a corrupt one, a record from before its chunk was
// handed out comes at the time of that.
func (t *Trace) Events(o Options, f func(*Event) bool) error {
	r, err := t.newEventRun(&o)
	if err != nil {
		return err
	}
	ahead := r.workers()
	if ahead > 0 {
		ahead = max(ahead-1, 1)
	}
	p := r.newPlayer()
	return r.run(ahead, func() func(*stretch) { return nil }, func(st *stretch) (bool, error) { return p.play(st, f) })
}

// player turns the records of stretches into events.
type player struct {
	decoder
	r     *eventRun
	st    *stretch
	f     func(*Event) bool
	event Event
}

func (r *eventRun) newPlayer() *player {
	p := &player{decoder: newDecoder(r.t), r: r}
	p.endOf = r.endOf
	return p
}

// play calls f with the events of a stretch. more is false if f returned false.
func (p *player) play(st *stretch, f func(*Event) bool) (more bool, err error) {
	p.st, p.f, p.problems = st, f, st.problems
	if p.r.o.Detail == Counts || p.r.o.Running && !st.overlapping && len(st.pending) == 0 {
		return p.playUnordered(st)
	}
	m := &st.merge
	m.begin(st.slices)
	for {
		x := m.top()
		if x == nil {
			break
		}
		if p.pendingFirst(x) {
			if more, err := p.emitPending(); err != nil || !more {
				st.stop = x.c.places[x.next].key
				return more, err
			}
			continue
		}
		plain := p.canUseShortForm(x.c)
		for limit := m.limit(); ; { // inlined by hand: a call costs 3 %
			at := &x.c.places[x.next]
			x.next++
			if more, err := p.nextUnordered(x, at, plain); err != nil || !more {
				st.stop = at.key
				return more, err
			}
			if x.next == x.end || x.c.places[x.next].key >= limit || p.pendingFirst(x) {
				break
			}
		}
		m.advance()
	}
	return p.finish(st)
}

// finish delivers the pending events behind the last record of a stretch.
func (p *player) finish(st *stretch) (more bool, err error) {
	if st.failed != nil {
		return false, st.failed
	}
	for len(st.pending) > 0 {
		if more, err := p.emitPending(); err != nil || !more {
			return more, err
		}
	}
	return true, nil
}

// record turns one record into an event. more is false if f returned false.
func (p *player) record(x *slice, at *place) (more bool, err error) {
	c := x.c
	r, w := c.record(at), c.location(at)
	e := &p.event
	start := at.key
	p.begin(e, &r, start, &w)
	var ext []byte
	if r.Ext() {
		ext = c.ext(at)
	}
	if e.Kind == format.KindPending {
		return p.beginPending(x, at, &r, ext)
	}
	row := p.row(x, e, start)
	switch e.Kind {
	case format.KindTask, format.KindTaskf, format.KindWait, format.KindHold, format.KindProcess:
		stop, err := p.end(c, at, &r, start)
		if err == errGone {
			return true, nil // it ended, at a time that was overwritten
		}
		if err != nil {
			return false, err
		}
		if row != nil && p.r.wantsDepth {
			row.depth.addScope(stop)
		}
	case format.KindTrack, format.KindGo:
		if e.Goid != 0 && row != nil { // without a goroutine many share the row
			e.Track, row.track = e.Name, e.Name
		}
		p.instant(e, &r)
	default:
		p.instant(e, &r)
	}
	return p.emit(e, ext)
}

// end sets the end of the scope r and returns its time in ticks.
func (p *player) end(c *cursor, at *place, r *format.Record, start int64) (int64, error) {
	e := &p.event
	if !r.Open() {
		stop := p.ended(e, start, r.Stop, r.CPU)
		if p.r.cpuAt != nil {
			p.fillCPU(e, start, stop)
		}
		return stop, p.twice(c, at, r)
	}
	if loc := c.end(at); loc != 0 {
		p.st.joined++
		stop, ok, err := p.endedApart(e, r, start, loc)
		if ok && p.r.cpuAt != nil {
			p.fillCPU(e, start, stop)
		}
		if ok || err != nil {
			return stop, err
		}
	}
	if c.reconstructed == nil && p.t.endOverwritten(r, p.r.ends.until) {
		return 0, errGone
	}
	p.open(e, start)
	return format.MaxTicks, nil
}

// twice notes an end apart of a scope that also ended in place, at the same time. A writer on the
// heap writes both if the chunk was being copied to the file, because it can't know what the copy
// has.
func (p *player) twice(c *cursor, at *place, r *format.Record) error {
	if len(c.ends) == 0 {
		return nil
	}
	loc := c.end(at)
	if loc == 0 {
		return nil
	}
	raw, err := p.cache.read(p.t, loc, 8)
	if err == errGone {
		p.st.joined++
		return nil
	}
	if len(raw) == 8 && int64(binary.LittleEndian.Uint64(raw)) == r.Stop {
		p.st.joined++
	}
	return err
}

// emit delivers the event if it is in the range.
func (p *player) emit(e *Event, ext []byte) (more bool, err error) {
	if !p.touches(e) {
		return true, nil
	}
	if ext != nil || e.Kind == format.KindProcess {
		p.arguments(e, ext)
	}
	return p.f(e), nil
}

// touches reports whether an event is in the range, and of a process that is kept. Events behind
// the range are not read.
func (p *player) touches(e *Event) bool {
	o := &p.r.o
	return (o.From <= 0 || e.Start+e.Dur >= o.From) && (!o.Within || e.Start >= o.From) && (p.t.filter == nil || p.t.selects(e.Goid))
}

// row sets the fields of e that depend on its row, and returns the row; nil if rows are not needed.
func (p *player) row(x *slice, e *Event, now int64) *localRow {
	if !p.r.wantsRow {
		return nil
	}
	key := rowKeyOf(e.Goid, e.Thread, e.Owner)
	if x.row == nil || x.rowKey != key {
		x.row, x.rowKey = p.rowOf(key), key
	}
	e.Track = x.row.track
	if p.r.wantsDepth {
		e.Depth = int32(x.row.depth.running(now))
	}
	return x.row
}

// rowOf returns a row of the stretch; the scan has found all rows.
func (p *player) rowOf(key uint64) *localRow { return p.st.rows.at(p.st.byKey[key]) }

// fillCPU sets the CPU time of a scope that has ended.
func (p *player) fillCPU(e *Event, start, stop int64) {
	if e.Open || e.Quality == format.Exact || e.Goid == 0 || e.EndGoid != 0 || e.Dur <= 0 || e.Kind == format.KindProcess || e.Kind == format.KindPending {
		return
	}
	if e.Quality == format.Unknown && p.t.across(start, stop) {
		return // its duration is not known
	}
	ns, q := p.r.cpuAt(e.Goid, e.Start, e.Start+e.Dur)
	ns = min(max(ns, 0), e.Dur)
	if q == format.Likely && e.Quality == format.AtMost {
		ns = min(ns, e.CPU)
	}
	if knowsMore(q, e.Quality, ns < e.CPU) {
		e.CPU, e.Quality = ns, q
	}
}

// knowsMore reports whether a CPU time of quality q is better than one of quality old.
func knowsMore(q, old format.Quality, lower bool) bool {
	switch q {
	case format.Exact:
		return true
	case format.Likely:
		return old != format.Likely
	case format.AtMost:
		return old == format.Unknown || old == format.AtMost && lower
	}
	return false
}
