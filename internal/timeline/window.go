package timeline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Window returns an index that has [from, to] at a resolution: x itself, or if x is not fine
// enough one that is read again from the trace. Only items that touch [from, to] are valid
// in that. While x is being loaded it returns x.
func (x *Index) Window(ctx context.Context, from, to, res int64) (*Index, error) {
	x.mu.Lock()
	enough := x.thin == nil || x.thin.loading || evenRes(res) >= x.thin.finest() && res > 1
	x.mu.Unlock()
	if enough {
		return x, nil
	}
	from, to = reaches(from, to, evenRes(res))
	first, last := x.thin.of(from), x.thin.of(to)
	if res > 1 && x.thin.items(first, last) > x.thin.pieced {
		y := x.blank()
		y.thin = x.thinPart(evenRes(res))
		err := x.read(ctx, y, x.thin.begins[first], to)
		return y, err
	}
	return x.pieces(ctx, first, last, evenRes(res))
}

// reaches extends the range to everything that the runs touching [from, to] are made of. A
// run is narrower than five resolutions, and the stretch that it begins in has four.
func reaches(from, to, res int64) (int64, int64) {
	if from > math.MinInt64/2 {
		from -= 9 * min(res, coarsest>>4)
	}
	if to < math.MaxInt64/2 {
		to += 4 * min(res, coarsest>>4)
	}
	return from, to
}

// Part packs what touches [from, to]: every scope if there are at most most items, else at a
// resolution.
func (x *Index) Part(ctx context.Context, from, to, most, res int64) (*Tile, error) {
	many, err := x.more(ctx, from, to, most)
	if err != nil {
		return nil, err
	}
	if !many {
		res = 0
	}
	w, err := x.Window(ctx, from, to, res)
	if err != nil {
		return nil, err
	}
	return w.Tile(from, to, res), nil
}

// more reports whether more than most items touch [from, to].
func (x *Index) more(ctx context.Context, from, to, most int64) (bool, error) {
	x.mu.Lock()
	read, many := x.thin != nil && !x.thin.loading, false
	if read {
		many = x.thin.inside(from, to) > most
	}
	x.mu.Unlock()
	switch {
	case many:
		return true, nil
	case !read:
		return x.Count(from, to) > most, nil
	}
	first, last := x.thin.of(from), x.thin.of(to)
	list, err := x.piecesOf(ctx, first, last)
	if err != nil {
		return false, err
	}
	n := list[0].Count(from, to)
	for i, p := range list[1:] {
		n += p.began(x.thin.begins[first+1+i], to)
	}
	return n > most, nil
}

// blank returns an index for a part of the trace.
func (x *Index) blank() *Index {
	return &Index{
		t: x.t, breaks: x.breaks, byGoid: map[uint64]*row{}, open: map[format.Loc]*scope{}, part: true,
		threads: threadList{ids: x.threads.ids, index: x.threads.index, fixed: true}, texts: newTexts(), lister: args.NewLister(x.t.Name),
		series: x.series, end: x.end, since: math.MaxInt64,
	}
}

// perTurn is the number of events between two checks of the context.
const perTurn = 1 << 12

// read reads into y what begins from a stretch's begin up to a moment, and what ran when
// that stretch began.
func (x *Index) read(ctx context.Context, y *Index, begin, to int64) error {
	x.enter(y, begin)
	err := x.reading(ctx, begin, to, y.take)
	if y.thin != nil {
		y.endRuns(true)
	}
	y.orderAs(x)
	return err
}

// reading calls f with the events that begin in [from, to] and are in lanes.
func (x *Index) reading(ctx context.Context, from, to int64, f func(*trace.Event)) error {
	n := 0
	err := x.t.Events(trace.Options{From: from, To: to, Within: true}, func(e *trace.Event) bool {
		if n++; n%perTurn == 0 && ctx.Err() != nil || e.Start > to {
			return false
		}
		if inLanes(e.Kind) {
			f(e)
		}
		return true
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// inLanes reports whether events of a kind are in lanes.
func inLanes(k format.Kind) bool {
	switch k {
	case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold, format.KindEvent, format.KindPending:
		return true
	}
	return false
}

// enter adds to y the items that ran when a stretch began.
func (x *Index) enter(y *Index, begin int64) {
	for r := range x.within(begin, begin) {
		x.enterRow(y, r, begin)
	}
}

func (x *Index) enterRow(y *Index, r *row, begin int64) {
	for d := range r.lanes {
		l := &r.lanes[d]
		if l.rare == nil {
			continue
		}
		if t := l.rare.thin; t != nil && t.long != nil {
			if i := t.long.from(begin) - 1; i >= 0 && t.long.endOf(i) >= begin {
				s := t.long.scope(i)
				y.entered(r.goid, d, &s, x.texts.get(s.args))
			}
		}
		for _, o := range l.rare.open {
			if o.start < begin {
				s := *o
				y.entered(r.goid, d, &s, x.texts.get(s.args))
			}
		}
	}
}

// entered adds an item of another index to its lane.
func (x *Index) entered(goid uint64, depth int, s *scope, text []byte) {
	r := x.rowFrom(goid, s)
	r.extend(depth)
	l := &r.lanes[depth]
	l.until = s.end()
	r.last = max(r.last, s.start)
	s.depth = int32(depth)
	switch {
	case s.flags&flagOpen != 0:
		s.args = x.texts.add(text)
		m := l.more()
		m.open = append(m.open, s)
		x.begin(s)
	case x.choose == nil || x.choose(r, s):
		x.keep(r, l, s, text)
	}
}

// rowFrom returns a goroutine's row, and extends its span to s.
func (x *Index) rowFrom(goid uint64, s *scope) *row {
	r := x.byGoid[goid]
	if r == nil {
		r = x.newRow(goid, s.start)
	}
	span := &x.spans[r.at]
	span.from, span.to = min(span.from, s.start), max(span.to, s.start+s.dur)
	s.row = r.at
	return r
}

// orderAs sorts the rows as in the whole index, and copies their names. Rows that the whole
// lacks are of a file that was overwritten.
func (x *Index) orderAs(whole *Index) {
	order := slices.DeleteFunc(slices.Clone(x.rows), func(r *row) bool { return whole.byGoid[r.goid] == nil })
	slices.SortFunc(order, func(a, b *row) int { return cmp.Compare(whole.byGoid[a.goid].at, whole.byGoid[b.goid].at) })
	spans := make([]span, len(order))
	for i, r := range order {
		w := whole.byGoid[r.goid]
		spans[i], r.at, r.track = x.spans[r.at], int32(i), w.track
		if w.extra != nil && w.extra.linked {
			m := r.more()
			m.linked, m.creator, m.created, m.start = true, w.extra.creator, w.extra.created, w.extra.start
		}
	}
	x.rows, x.spans = order, spans
}
