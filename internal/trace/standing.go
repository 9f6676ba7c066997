package trace

import "slices"

// standing is the state of a run at its present time: what a stretch needs of those before it. It
// passes from stretch to stretch; each takes what concerns it, and adds data for those that follow.
type standing struct {
	rows    rows
	running runningRows
	pending []*waiting // events that have begun and not happened: a min-heap by (stop, loc)
}

// localRow is a row of a stretch: its state at the beginning of the stretch, and later at its last
// record.
type localRow struct {
	key   uint64
	depth *depthRow   // nil: depths are not needed
	begun *runningRow // the scopes that run when the stretch begins; nil: none, or not needed
	slice int32       // index of the last one with a record of it, from 1
	track uint16      // its name
	exit  uint16      // its name at the end of the stretch
}

// depthRow holds the scopes that run on a row of a stretch.
type depthRow struct {
	row
	global *row // of all stretches; nil: nothing runs from stretch to stretch
}

func (x *localRow) reset(key uint64) {
	*x = localRow{key: key, depth: x.depth}
	if x.depth != nil {
		*x.depth = depthRow{row: x.depth.emptied()}
	}
}

// localRows are the rows of a stretch. They lie in pages: growing a slice would hold them twice for
// a moment, and they may be most of a stretch's memory.
type localRows struct {
	pages []*[rowsInPage]localRow
	n     int
	deep  bool // depths are needed
}

const rowsInPage = 64

func (l *localRows) at(i int32) *localRow { return &l.pages[i/rowsInPage][i%rowsInPage] }

// add returns the index of a new row, which reuses the memory of an earlier one if there is one.
func (l *localRows) add(key uint64) int32 {
	i := int32(l.n)
	if l.n++; l.n > len(l.pages)*rowsInPage {
		page := new([rowsInPage]localRow)
		if l.deep {
			depths := new([rowsInPage]depthRow)
			for k := range depths {
				page[k].depth = &depths[k]
			}
		}
		l.pages = append(l.pages, page)
	}
	l.at(i).reset(key)
	return i
}

func (l *localRows) all(yield func(*localRow) bool) {
	for i := range int32(l.n) {
		if !yield(l.at(i)) {
			return
		}
	}
}

// enter gives the stretch the state that it needs, and adds the stretch's own for those that
// follow.
func (r *reading) enter(st *stretch, s *standing) {
	for _, c := range st.held[:st.fresh] {
		for _, w := range c.pending {
			s.push(w)
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
		s.rows.makeRoom(st.rows.n, st.from)
	}
	for x := range st.rows.all {
		if g := s.rows.m[x.key]; g != nil {
			g.running(st.from)
			x.depth.nested, x.depth.open = append(x.depth.nested, g.nested...), g.open
			if g.late != nil && len(*g.late) > 0 {
				late := slices.Clone(*g.late)
				x.depth.late = &late
			}
			x.track, x.depth.global = g.track, g
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
		x := st.rows.at(m.row)
		if m.stop == 0 {
			x.exit = uint16(m.head >> 48)
			continue
		}
		if r.wantsDepth {
			if x.depth.global == nil {
				x.depth.global = s.rows.get(x.key)
			}
			x.depth.global.begin(m.stop)
		}
		if r.o.Running {
			s.running.begin(x, m, st.to)
		}
	}
	for x := range st.rows.all {
		switch {
		case x.exit == x.track:
		case x.depth != nil && x.depth.global != nil:
			x.depth.global.track = x.exit
		default:
			s.rows.tracks.put(x.key, x.exit)
		}
	}
	st.forgot = s.rows.tracks.forgot
}
