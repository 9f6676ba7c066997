package timeline

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// piecesMost is how many items, looked at at once, are read one by one and kept; of more,
// only runs are.
const piecesMost = 2 << 20

// cacheMost is how many bytes the stretches that were read again may take.
const cacheMost = 64 << 20

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
	list, err := x.piecesOf(ctx, first, last)
	if err != nil || len(list) == 1 {
		return list[0], err
	}
	y := x.blank()
	if res > 1 {
		y.thin = x.thinPart(res)
	}
	for i, p := range list {
		begin := x.thin.begins[first+i]
		if i == 0 {
			begin = math.MinInt64 // what ran when it began is in no other
		}
		p.addTo(y, begin)
	}
	y.orderAs(x)
	return y, nil
}

// piecesOf returns the stretches from first to last, each with what ran when it began.
func (x *Index) piecesOf(ctx context.Context, first, last int) ([]*Index, error) {
	return x.thin.cache.get(first, last, func(k int) (*Index, error) { return x.readPiece(ctx, k) })
}

// readPiece reads a stretch, with what ran when it began.
func (x *Index) readPiece(ctx context.Context, stretch int) (*Index, error) {
	y, to := x.blank(), int64(math.MaxInt64)
	if stretch+1 < len(x.thin.begins) {
		to = x.thin.begins[stretch+1] - 1
	}
	return y, x.read(ctx, y, x.thin.begins[stretch], to)
}

// get returns the stretches from first to last; those that are not there are read, on all
// processors.
func (c *pieceCache) get(first, last int, read func(stretch int) (*Index, error)) ([]*Index, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := last - first + 1
	out, errs := make([]*Index, n), make([]error, n)
	asked := func(p piece) bool { return p.stretch >= first && p.stretch <= last }
	for _, p := range c.list {
		if asked(p) {
			out[p.stretch-first] = p.index
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if out[i] == nil {
					out[i], errs[i] = read(first + i)
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return out, err
	}
	c.list = slices.DeleteFunc(c.list, asked)
	for i, x := range out {
		c.list = append(c.list, piece{first + i, x, x.bytes()})
	}
	c.size = 0
	for _, p := range c.list {
		c.size += p.size
	}
	for c.size > cacheMost && len(c.list) > 1 {
		c.size -= c.list[0].size
		c.list = slices.Delete(c.list, 0, 1)
	}
	return out, nil
}

// thinPart is for a part of the trace that is looked at, at a resolution.
func (x *Index) thinPart(res int64) *thinIndex {
	th := newThin(Size{Runs: math.MaxInt, Every: math.MaxInt64})
	if th.base, th.loading = res, false; x.thin.mixed {
		th.base = fineness(res)
	}
	return th
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
	runs := newMerger(y.thin.base, false, math.MinInt64, math.MaxInt64, func(r *run) {
		if r.count == 1 {
			i := int(r.item)
			r.item = y.thin.rests.add(x.texts.get(l.argsOf(i)), l.endedBy(i))
		}
		m.thin.runs.push(r)
	})
	l.elements(first, l.n, runs)
	runs.end()
}
