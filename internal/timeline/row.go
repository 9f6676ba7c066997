package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// scope is a scope or an instant before it is in a lane.
type scope struct {
	start, dur, cpu int64
	loc             format.Loc // of its record; 0 once it is in a lane
	endGoid         uint64
	row             int32
	depth           int32
	args            uint32
	name            uint16
	thread          uint16
	kind            format.Kind
	flags           uint8
	seen            uint32 // open scopes: the last round that listed it
}

func (s *scope) end() int64 {
	if s.flags&flagOpen != 0 {
		return math.MaxInt64
	}
	return s.start + s.dur
}

// row is one goroutine, or all unknown goroutines. There may be millions of rows, each with
// a few scopes.
type row struct {
	goid  uint64
	at    int32 // index among the index's rows
	track uint16
	live  uint8 // of a thin index while it is loaded: rowIdle, rowQuiet or rowTouched
	lanes []lane
	last  int64 // latest start in the lanes
	extra *extra
}

// extra has the fields that many rows lack.
type extra struct {
	instants lane
	queue    []*scope // added since the last arrange
	linked   bool     // by scope.Go, with the goroutine's creator:
	creator  uint64
	created  int64
	start    int64
}

func (r *row) more() *extra {
	if r.extra == nil {
		r.extra = &extra{}
	}
	return r.extra
}

// depth returns the lane for a scope that begins at start, after everything in the lanes. It
// is the number of running scopes: for nested ones that is the nesting, as the reader counts
// it. For scopes that overlap without being nested that lane may be taken; they get the next
// free one.
func (r *row) depth(start int64) int {
	d := 0
	for i := range r.lanes {
		if r.lanes[i].until > start {
			d++
		}
	}
	for d < len(r.lanes) && r.lanes[d].until > start {
		d++
	}
	return d
}

// lane chooses the lane of a scope; its start is not before r.last.
func (r *row) lane(s *scope) *lane {
	d := r.depth(s.start)
	r.extend(d)
	s.depth = int32(d)
	r.lanes[d].until = s.end()
	r.last = s.start
	return &r.lanes[d]
}

// extend adds lanes up to d.
func (r *row) extend(d int) {
	for d >= len(r.lanes) {
		r.lanes = append(r.lanes, lane{until: math.MinInt64})
	}
}

// place adds a scope to its lane; its start is not before r.last.
func (r *row) place(s *scope) {
	l := r.lane(s)
	if s.flags&flagOpen != 0 {
		m := l.more()
		m.open = append(m.open[:0], s)
		return
	}
	l.put(s)
}

// ended moves a scope that was open into its reserved lane.
func (r *row) ended(s *scope) {
	l := &r.lanes[s.depth]
	l.rare.open = l.rare.open[:0]
	l.put(s)
	l.until = s.end()
}

// arrange adds the queue to the lanes: by start, a parent before its children. Items that
// are already there and began later are placed again. It reports whether there were any:
// that happens if the trace was read at an unlucky moment.
func (r *row) arrange() (moved bool) {
	q := r.extra.queue
	slices.SortFunc(q, func(a, b *scope) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.loc, b.loc)) })
	if len(r.lanes) > 0 && q[0].start < r.last {
		moved = true
		q = append(r.take(q[0].start), q...)
		slices.SortStableFunc(q, func(a, b *scope) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end(), a.end()))
		})
	}
	for _, s := range q {
		r.place(s)
	}
	clear(r.extra.queue)
	r.extra.queue = r.extra.queue[:0]
	return moved
}

// take removes from the lanes the items that start at from or later.
func (r *row) take(from int64) (out []*scope) {
	r.last = math.MinInt64
	for d := range r.lanes {
		l := &r.lanes[d]
		n := l.from(from)
		for i := n; i < l.n; i++ {
			s := l.scope(i)
			s.row = r.at
			out = append(out, &s)
		}
		l.cut(n)
		l.until = math.MinInt64
		if n > 0 {
			it := l.at(n - 1)
			r.last, l.until = max(r.last, it.start), it.start+l.durOf(n-1, it)
		}
		if l.rare != nil && len(l.rare.open) > 0 {
			s := l.rare.open[0]
			if s.start >= from {
				out = append(out, s)
				l.rare.open = l.rare.open[:0]
			} else {
				r.last, l.until = max(r.last, s.start), math.MaxInt64
			}
		}
	}
	return out
}

// instant adds an instant to the row's.
func (r *row) instant(s *scope) {
	l := &r.more().instants
	n := l.n
	if n > 0 && l.at(n-1).start > s.start {
		n = l.from(s.start + 1)
	}
	var later []scope
	for i := n; i < l.n; i++ {
		later = append(later, l.scope(i))
	}
	if len(later) > 0 {
		l.cut(n)
	}
	l.put(s)
	for i := range later {
		l.put(&later[i])
	}
}

// announce adds a pending event that has not happened.
func (r *row) announce(s *scope) {
	m := r.more().instants.more()
	i, _ := slices.BinarySearchFunc(m.open, s.start, func(o *scope, t int64) int { return cmp.Compare(o.start, t) })
	m.open = slices.Insert(m.open, i, s)
}

// arrived removes an announced event.
func (r *row) arrived(s *scope) {
	m := r.extra.instants.rare
	if i := slices.Index(m.open, s); i >= 0 {
		m.open = slices.Delete(m.open, i, i+1)
	}
}
