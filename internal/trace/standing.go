package trace

// standing is what a run knows at the moment that it has come to: what a stretch needs of
// those before it. One stretch after the other is given it, takes out what concerns it, and
// adds what it has for those that follow.
type standing struct {
	rows    rows
	running runningRows
	pending []waiting // events that have begun and not happened: a min-heap by (stop, loc)
}

// localRow is a row of a stretch: how it was when the stretch began, and then when its last
// record was.
type localRow struct {
	key uint64
	row
	runs  []runner // what runs when the stretch begins, by begin
	since int64    // ticks: up to when those were told of

	slice int32 // the last that has a record of it, from 1

	exit   uint16 // what it is called when the stretch is over
	global *row   // of all stretches
}

func (x *localRow) reset(key uint64) {
	*x = localRow{key: key, row: row{nested: x.nested[:0], late: x.late[:0]}, runs: x.runs[:0]}
}

// enter gives the stretch what it needs, and takes what it has for those that follow.
func (r *reading) enter(st *stretch, s *standing) {
	for _, c := range st.held[:st.fresh] {
		for i := range c.pending {
			s.push(c.pending[i])
		}
	}
	for len(s.pending) > 0 && s.pending[0].stop < st.to {
		w := s.pop()
		st.pending = append(st.pending, w)
		if r.wantsRows {
			st.row(w.row())
		}
	}
	if !r.wantsRows {
		return
	}
	if r.o.Running {
		s.running.makeRoom(st)
	}
	if r.wantsDepth {
		s.rows.makeRoom(len(st.rows), st.from)
	}
	for i := range st.rows {
		x := &st.rows[i]
		if r.wantsDepth {
			g := s.rows.get(x.key)
			g.running(st.from)
			x.nested, x.late = append(x.nested, g.nested...), append(x.late, g.late...)
			x.open, x.track, x.global = g.open, g.track, g
		} else {
			x.track = s.rows.tracks.get(x.key)
		}
		x.exit = x.track
		if r.o.Running {
			s.running.enter(x, st.to)
		}
	}
	for i := range st.marks {
		m := &st.marks[i]
		x := &st.rows[m.row]
		if m.stop == 0 {
			x.exit = uint16(m.head >> 48)
			continue
		}
		if r.wantsDepth {
			x.global.begin(m.stop)
		}
		if r.o.Running {
			s.running.begin(x, m, st.to)
		}
	}
	for i := range st.rows {
		switch x := &st.rows[i]; {
		case x.exit == x.track:
		case r.wantsDepth:
			x.global.track = x.exit
		default:
			s.rows.tracks.put(x.key, x.exit)
		}
	}
	st.forgot = s.rows.tracks.forgot
}
