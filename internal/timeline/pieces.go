package timeline

import (
	"context"
	"math"
	"sync"
)

// piecesMost is how many stretches are kept item by item; of more, looked at at once, only
// runs are.
const piecesMost = 8

// cacheMost is how many bytes the stretches that were read again may take.
const cacheMost = 128 << 20

// pieceCache has the stretches that were read last.
type pieceCache struct {
	mu   sync.Mutex
	list []piece // the last used last
	size int64
}

// piece is a stretch that was read again.
type piece struct {
	stretch int
	index   *Index
	size    int64
}

// pieces returns an index of what began in the stretches from first to last, and of what ran
// when they began: of every item, or of runs at a resolution.
func (x *Index) pieces(ctx context.Context, first, last int, res int64) (*Index, error) {
	if first == last {
		return x.piece(ctx, first)
	}
	y := x.blank()
	if res > 1 {
		y.thin = x.thinPart(res)
	}
	for k := first; k <= last; k++ {
		p, err := x.piece(ctx, k)
		if err != nil {
			return nil, err
		}
		begin := x.thin.begins[k]
		if k == first {
			begin = math.MinInt64 // what ran when it began is in no other
		}
		p.addTo(y, begin)
	}
	y.orderAs(x)
	return y, nil
}

// thinPart is for a part of the trace that is looked at, at a resolution.
func (x *Index) thinPart(res int64) *thinIndex {
	th := newThin(Size{Runs: math.MaxInt, Every: math.MaxInt64})
	if th.base, th.loading = res, false; x.thin.mixed {
		th.base = fineness(res)
	}
	return th
}

// piece returns a stretch, with what ran when it began.
func (x *Index) piece(ctx context.Context, stretch int) (*Index, error) {
	c := &x.thin.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.list {
		if p.stretch == stretch {
			c.list = append(append(c.list[:i:i], c.list[i+1:]...), p)
			return p.index, nil
		}
	}
	y, to := x.blank(), int64(math.MaxInt64)
	if stretch+1 < len(x.thin.begins) {
		to = x.thin.begins[stretch+1] - 1
	}
	if err := x.read(ctx, y, x.thin.begins[stretch], to); err != nil {
		return nil, err
	}
	p := piece{stretch, y, y.bytes()}
	c.list, c.size = append(c.list, p), c.size+p.size
	for c.size > cacheMost && len(c.list) > 1 {
		c.size -= c.list[0].size
		c.list = c.list[1:]
	}
	return y, nil
}

// bytes is about how much memory an index takes.
func (x *Index) bytes() int64 {
	const perItem, perRow, perText = 28, 400, 16
	return perItem*x.items + perRow*int64(len(x.rows)) + perText*int64(len(x.texts.ends)) + int64(len(x.texts.bytes))
}

// addTo adds to y what began at begin or later.
func (x *Index) addTo(y *Index, begin int64) {
	for i, r := range x.rows {
		w := y.byGoid[r.goid]
		if w == nil {
			w = y.newRow(r.goid, x.spans[i].from)
		}
		span := &y.spans[w.at]
		span.from, span.to = min(span.from, x.spans[i].from), max(span.to, x.spans[i].to)
		w.extend(len(r.lanes) - 1)
		for d := range r.lanes {
			x.addLane(y, w, &r.lanes[d], &w.lanes[d], begin)
		}
		if r.extra != nil {
			x.addLane(y, w, &r.extra.instants, &w.more().instants, begin)
		}
	}
}

// addLane adds to lane w of y what began in lane l at begin or later.
func (x *Index) addLane(y *Index, r *row, l, w *lane, begin int64) {
	first := l.from(begin)
	switch {
	case first == l.n:
	case y.thin != nil:
		x.addRuns(y, l, w, first)
	default:
		for i := first; i < l.n; i++ {
			s := l.scope(i)
			s.args = y.texts.add(x.texts.get(s.args))
			w.put(&s)
		}
	}
	if l.rare == nil {
		return
	}
	for _, o := range l.rare.open {
		if o.start < begin {
			continue
		}
		s := *o
		s.row, s.args = r.at, y.texts.add(x.texts.get(s.args))
		m := w.more()
		m.open = append(m.open, &s)
		y.begin(&s)
	}
}

// addRuns adds the items of a lane from the first on as runs.
func (x *Index) addRuns(y *Index, l, w *lane, first int) {
	m := w.more()
	if m.thin == nil {
		m.thin = &thin{}
	}
	w.kinds |= l.kinds
	y.thin.mixed = y.thin.mixed || w.kinds == hasBoth
	l.merge(nil, first, l.n, y.thin.base, func(r *run) {
		if r.count == 1 {
			i := int(r.item)
			r.item = y.thin.rest(x.texts.get(l.argsOf(i)), l.endedBy(i))
		}
		m.thin.runs.push(r)
	})
}
