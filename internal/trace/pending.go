package trace

import (
	"bytes"

	"github.com/scopeview/scopeview/internal/format"
)

// waiting is a pending event whose time has not come: Events is ordered by the
// instants, and a pending's instant is its stop. Its arguments are read again
// then; keeping them would take memory for every pending event that runs.
type waiting struct {
	rec    format.Record
	stop   int64 // ticks
	start  int64 // from which it is shown
	where  where
	endLoc format.Loc // of its end apart; 0: it ended in place
	// made is its extension, if it is not in the file or may not be for long; else nil. Most are
	// in the file, and many may wait.
	made *[]byte
}

// before orders by (time, place in the file), as Events does.
func (w *waiting) before(stop int64, loc format.Loc) bool {
	return w.stop < stop || w.stop == stop && w.where.loc < loc
}

// pendingFirst reports whether a pending event comes before the cursor's record.
func (s *stream) pendingFirst(c *cursor) bool {
	if len(s.pending) == 0 {
		return false
	}
	p := &c.places[c.next]
	return s.pending[0].before(p.key, c.loc(p))
}

// beginPending finds out how the pending record r ends. If it does not, it is
// emitted where it began.
func (s *stream) beginPending(c *cursor, p *place, r *format.Record, ext []byte) (more bool, err error) {
	e := &s.event
	w := waiting{rec: *r, stop: r.Stop, start: p.key, where: c.where(p)}
	if c.made != nil || s.t.overwrites() {
		ext := bytes.Clone(ext)
		w.made = &ext
	}
	if r.Open() {
		ok := false
		if w.endLoc = c.end(p); w.endLoc != 0 {
			s.joined++
			if w.stop, ok, err = s.endedApart(e, r, p.key, w.endLoc); err == errGone {
				return true, nil
			}
			if err != nil {
				return false, err
			}
		}
		if !ok && c.made == nil && s.t.endGone(r, s.until) {
			return true, nil
		}
		if !ok {
			s.open(e, p.key)
			s.row(c, e, p.key)
			return s.emit(e, ext)
		}
	} else {
		w.stop = s.ended(e, p.key, r.Stop, r.CPU)
		if err := s.twice(c, p, r); err != nil {
			return false, err
		}
	}
	c.latest = max(c.latest, w.stop)
	h := append(s.pending, w)
	i := len(h) - 1
	for ; i > 0 && w.before(h[(i-1)/2].stop, h[(i-1)/2].where.loc); i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = w
	s.pending = h
	return true, nil
}

func (s *stream) popPending() waiting {
	h := s.pending
	top := h[0]
	n := len(h) - 1
	w := h[n]
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
func (s *stream) emitPending() (more bool, err error) {
	w := s.popPending()
	r := &w.rec
	var ext []byte
	switch {
	case w.made != nil:
		ext = *w.made
	case r.Ext():
		// Not through the cache: what that holds may be older than the record.
		if ext, err = s.t.freshExt(w.where.loc + format.RecordSize); err != nil {
			return false, err
		}
	}
	e := &s.event
	s.begin(e, r, w.start, &w.where)
	if w.endLoc != 0 {
		if _, _, err = s.endedApart(e, r, w.start, w.endLoc); err == errGone {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	e.Start = s.stops.nanos(w.stop)
	if e.Start > s.to {
		return false, nil
	}
	switch {
	case s.o.Within:
	case s.o.NoDepth:
		e.Track = s.rows.tracks.get(e.Goid)
	default:
		row := s.rows.get(rowKey(e.Goid, e.Thread, e.Owner), w.stop)
		e.Depth, e.Track = int32(row.running(w.stop)), row.track
	}
	return s.emit(e, ext)
}

// emitAllPending emits those that are left.
func (s *stream) emitAllPending() error {
	for len(s.pending) > 0 {
		if more, err := s.emitPending(); err != nil || !more {
			return err
		}
	}
	return nil
}
