package trace

import (
	"github.com/scopeview/scopeview/internal/format"
)

// waiting is a pending event whose time has not come: Events is ordered by instants, and a pending
// event's instant is its stop. Its arguments are read again then; keeping them would take memory
// for every pending event that runs. It is passed by pointer, as many may wait.
type waiting struct {
	rec    format.Record
	stop   int64 // ticks
	start  int64 // from which it is shown
	where  where
	endLoc format.Loc // its end apart; 0: it ended in place
	// made is its extension, if that is not in the file or may not be for long; else nil. Most are
	// in the file, and many may wait.
	made *[]byte
}

// before orders by (time, location), as Events does.
func (w *waiting) before(stop int64, loc format.Loc) bool {
	return w.stop < stop || w.stop == stop && w.where.loc < loc
}

// row returns the key of its row.
func (w *waiting) row() uint64 { return rowKeyOf(w.rec.Goid(), w.where.thread, w.where.owner) }

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
	if c.made == nil && p.t.endGone(r, p.r.ends.until) {
		return true, nil
	}
	p.open(e, at.key)
	p.row(x, e, at.key)
	return p.emit(e, ext)
}

func (s *standing) push(w *waiting) {
	h := append(s.pending, w)
	i := len(h) - 1
	for ; i > 0 && w.before(h[(i-1)/2].stop, h[(i-1)/2].where.loc); i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = w
	s.pending = h
}

func (s *standing) pop() *waiting {
	h := s.pending
	top := h[0]
	n := len(h) - 1
	w := h[n]
	h[n] = nil
	h = h[:n]
	s.pending = h
	if n == 0 {
		return top
	}
	i := 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && h[k+1].before(h[k].stop, h[k].where.loc) {
			k++
		}
		if !h[k].before(w.stop, w.where.loc) {
			break
		}
		h[i] = h[k]
		i = k
	}
	h[i] = w
	return top
}

// emitPending emits the first pending event.
func (p *player) emitPending() (more bool, err error) {
	w := p.st.pending[0]
	p.st.pending[0] = nil
	p.st.pending = p.st.pending[1:]
	r := &w.rec
	var ext []byte
	switch {
	case w.made != nil:
		ext = *w.made
	case r.Ext():
		// Not through the cache, which may be older than the record.
		if ext, err = p.t.freshExt(w.where.loc + format.RecordSize); err != nil {
			return false, err
		}
	}
	e := &p.event
	p.begin(e, r, w.start, &w.where)
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
