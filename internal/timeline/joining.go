package timeline

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// joining joins the indexes of several consecutive stretches to one, row by row on all
// processors.
type joining struct {
	whole, y *Index
	rows     []joinedRow
	mu       sync.Mutex // guards texts and details, which y's rows share
}

// joinedRow is a row of the joined index, and its parts in the stretches.
type joinedRow struct {
	row   *row
	parts []rowPart
}

// rowPart is a stretch's part of a row. Only items that began at begin or later count.
type rowPart struct {
	x     *Index
	row   *row
	begin int64
}

// join joins stretches, the first of which has this number.
func (j *joining) join(list []*Index, first int) {
	for i, x := range list {
		begin := j.whole.thin.begins[first+i]
		if i == 0 {
			begin = math.MinInt64 // items that ran when it began are in no other one
		}
		for k := range x.rows {
			j.meet(rowPart{x, x.rows[k], begin}, &x.spans[k])
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(j.rows)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(j.rows); i = int(next.Add(1)) - 1 {
				j.fill(&j.rows[i])
			}
		})
	}
	wg.Wait()
	if th := j.y.thin; th != nil {
		j.y.eachThin(func(l *lane, _ *thin) { th.mixed = th.mixed || l.kinds == hasBoth })
	}
}

// meet registers a stretch's part of a row.
func (j *joining) meet(p rowPart, s *span) {
	w := j.y.byGoid[p.row.goid]
	if w == nil {
		w = j.y.newRow(p.row.goid, s.from)
		j.rows = append(j.rows, joinedRow{row: w})
	}
	span := &j.y.spans[w.at]
	span.from, span.to = min(span.from, s.from), max(span.to, s.to)
	j.rows[w.at].parts = append(j.rows[w.at].parts, p)
	w.extend(len(p.row.lanes) - 1)
	for d := range p.row.lanes {
		j.open(p, &p.row.lanes[d], w, &w.lanes[d])
	}
	if p.row.extra != nil {
		j.open(p, &p.row.extra.instants, w, &w.more().instants)
	}
}

// open adds the open items of a lane.
func (j *joining) open(p rowPart, l *lane, r *row, w *lane) {
	if l.rare == nil {
		return
	}
	for _, o := range l.rare.open {
		if o.start < p.begin {
			continue
		}
		s := *o
		s.row, s.args = r.at, j.y.texts.add(p.x.texts.get(s.args))
		m := w.more()
		m.open = append(m.open, &s)
		j.y.begin(&s)
	}
}

// fill adds the ended items of a row.
func (j *joining) fill(r *joinedRow) {
	for _, p := range r.parts {
		for d := range p.row.lanes {
			j.add(p, &p.row.lanes[d], &r.row.lanes[d])
		}
		if p.row.extra != nil {
			j.add(p, &p.row.extra.instants, &r.row.extra.instants)
		}
	}
}

// add adds to lane w the items that began in lane l of a stretch.
func (j *joining) add(p rowPart, l, w *lane) {
	first := l.from(p.begin)
	switch {
	case first == l.n:
	case j.y.thin != nil:
		j.addRuns(p, l, w, first)
	case l.plain():
		w.kinds |= l.kinds
		for i := first; i < l.n; {
			b, k := blockOf(i)
			w.pushAll(l.blocks[b][k:])
			i += len(l.blocks[b]) - k
		}
	default:
		for i := first; i < l.n; i++ {
			s := l.scope(i)
			if s.args != 0 {
				j.mu.Lock()
				s.args = j.y.texts.add(p.x.texts.get(s.args))
				j.mu.Unlock()
			}
			w.put(&s)
		}
	}
}

// addRuns adds the items of a lane, from first on, as runs.
func (j *joining) addRuns(p rowPart, l, w *lane, first int) {
	m := w.more()
	if m.thin == nil {
		m.thin = &thin{}
	}
	w.kinds |= l.kinds
	runs := newMerger(j.y.thin.base, false, math.MinInt64, math.MaxInt64, func(r *run) {
		if r.count == 1 {
			i := int(r.item)
			text, endGoid := p.x.texts.get(l.argsOf(i)), l.endedBy(i)
			r.item = 0
			if len(text) > 0 || endGoid != 0 {
				j.mu.Lock()
				r.item = j.y.thin.details.add(text, endGoid)
				j.mu.Unlock()
			}
		}
		m.thin.runs.push(r)
	})
	l.elements(first, l.n, runs)
	runs.end()
}
