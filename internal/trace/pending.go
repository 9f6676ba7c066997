package trace

import (
	"github.com/scopeview/scopeview/internal/format"
)

// pendingFirst reports whether a pending event comes before the slice's record.
func (p *player) pendingFirst(x *slice) bool {
	if len(p.st.pending) == 0 {
		return false
	}
	at := &x.c.places[x.next]
	return p.st.pending[0].before(at.key, x.c.loc(at))
}

// beginPending finds how the pending record r ends. If it does not, it is emitted at its begin;
// else a stretch emits it at its end.
func (p *player) beginPending(x *slice, at *place, r *format.Record, ext []byte) (more bool, err error) {
	e, c := &p.event, x.c
	if !r.Open() {
		p.ended(e, at.key, r.Stop, r.CPU)
		return true, p.twice(c, at, r)
	}
	if loc := c.end(at); loc != 0 {
		p.st.joined++
		_, ok, err := p.endedApart(e, r, at.key, loc)
		if ok || err == errGone {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	if c.reconstructed == nil && p.t.endOverwritten(r, p.r.ends.until) {
		return true, nil
	}
	p.open(e, at.key)
	p.row(x, e, at.key)
	return p.emit(e, ext)
}

// emitPending emits the first pending event.
func (p *player) emitPending() (more bool, err error) {
	w := p.st.pending[0]
	p.st.pending[0] = nil
	p.st.pending = p.st.pending[1:]
	r := &w.rec
	var ext []byte
	switch {
	case w.ext != nil:
		ext = *w.ext
	case r.Ext():
		// Not through the cache, which may be older than the record.
		if ext, err = p.t.freshExt(w.at.loc + format.RecordSize); err != nil {
			return false, err
		}
	}
	e := &p.event
	p.begin(e, r, w.start, &w.at)
	if w.endLoc != 0 {
		if _, _, err = p.endedApart(e, r, w.start, w.endLoc); err == errGone {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	e.Start = p.stops.Nanos(w.stop)
	if p.r.wantsRows {
		row := p.rowOf(w.row())
		e.Track = row.track
		if p.r.wantsDepth {
			e.Depth = int32(row.depth.running(w.stop))
		}
	}
	return p.emit(e, ext)
}
