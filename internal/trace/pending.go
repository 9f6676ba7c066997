package trace

import "github.com/scopeview/scopeview/internal/format"

// waiting is a pending event whose time has not come: Events is ordered by the
// instants, and a pending's instant is its stop. Only its place is kept; the
// record is read again then.
type waiting struct {
	stop   int64 // ticks
	loc    int64
	endLoc int64 // of its end apart; 0: it ended in place
	thread uint32
	owner  uint32
}

// before orders by (time, place in the file), as Events does.
func (w *waiting) before(stop, loc int64) bool {
	return w.stop < stop || w.stop == stop && w.loc < loc
}

// beginPending looks at how the pending record r ends.
func (s *stream) beginPending(c *cursor, p *place, r *format.Record) (more bool, err error) {
	e := &s.event
	w := waiting{stop: r.Stop, loc: e.Loc, thread: p.thread, owner: c.owner}
	if r.Open() {
		w.stop = 0
		if at := findEnd(c.ends, int(p.off)); at != 0 {
			s.joined++
			begin := *r
			begin.Start = rawStart(c.bytes[p.off:])
			x, _, _, ok, err := s.t.readEnd(&s.cache, at, &begin, s.endArgs[:0])
			if err != nil {
				return false, err
			}
			if ok {
				w.stop, w.endLoc = x.stop, at
			} else {
				s.problems.add(textBadEnd, at, 1)
			}
		}
		if w.stop == 0 {
			e.Open = true
			e.User, e.System = -1, -1
			row := s.row(c, e, r.Start)
			e.Depth, e.Track = int32(row.running(r.Start)), row.track
			var ext []byte
			if r.Ext() {
				ext = extension(c.bytes[:c.used], int(p.off)+format.RecordSize)
			}
			return s.emit(e, ext)
		}
	}
	if w.stop < r.Start || w.stop >= format.MaxTicks {
		s.problems.add(textBadStop, e.Loc, 1)
		w.stop = r.Start
	}
	h := append(s.pending, w)
	i := len(h) - 1
	for i > 0 && w.before(h[(i-1)/2].stop, h[(i-1)/2].loc) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
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
		if k+1 < n && h[k+1].before(h[k].stop, h[k].loc) {
			k++
		}
		if !h[k].before(w.stop, w.loc) {
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
	e := &s.event
	*e = Event{Kind: format.KindPending, Thread: w.thread, Owner: w.owner, Loc: w.loc, User: -1, System: -1}
	e.Start = s.t.clock.nanos(w.stop, &s.stopHint)
	if e.Start > s.userTo {
		return false, nil
	}
	if e.Start < s.o.From {
		return true, nil
	}
	raw, err := s.cache.read(s.t, w.loc, format.RecordSize)
	if err != nil {
		return false, err
	}
	if len(raw) < format.RecordSize {
		s.problems.add(textShort, w.loc, 1)
		return true, nil
	}
	r := format.DecodeRecord(raw)
	e.Name, e.Goid = r.Name(), r.Goid()
	if w.endLoc != 0 {
		x, _, _, ok, err := s.t.readEnd(&s.cache, w.endLoc, &r, s.endArgs[:0])
		if err != nil {
			return false, err
		}
		if ok {
			e.EndArgs = cloneSlots(x.slots)
			if x.goid != r.Goid() {
				e.EndGoid = x.goid
			}
		}
	}
	row := s.rows.get(rowKey(e.Goid, e.Thread, e.Owner), w.stop)
	e.Depth, e.Track = int32(row.running(w.stop)), row.track
	var ext []byte
	if r.Ext() {
		if ext, err = s.cache.ext(s.t, w.loc+format.RecordSize); err != nil {
			return false, err
		}
	}
	return s.emit(e, ext)
}

// cloneSlots copies slots out of the block cache, which is used again before
// the event is handed over.
func cloneSlots(slots []format.Slot) []format.Slot {
	out := append([]format.Slot(nil), slots...)
	for i := range out {
		out[i].Str = append([]byte(nil), out[i].Str...)
	}
	return out
}
