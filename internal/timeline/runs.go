package timeline

import (
	"cmp"
	"context"
	"slices"
)

// stretch is a part of a row's time, in ns, both ends included.
type stretch struct{ from, to int64 }

// Runs packs the executions of a name that touch [from, to], each exactly, with everything
// inside and around them on their rows. If that is more than most items, the tile has only
// the executions, and at most this many.
func (x *Index) Runs(ctx context.Context, name uint16, from, to, most int64) (*Tile, error) {
	if x.thin != nil {
		return x.readRuns(ctx, name, from, to, most)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.packRuns(name, from, to, most, false), nil
}

// packRuns is Runs for an index with every item in question.
func (x *Index) packRuns(name uint16, from, to, most int64, alone bool) *Tile {
	b := x.tiler(from, to, 0)
	type rowRuns struct {
		r     *row
		times []stretch
	}
	var found []rowRuns
	var items int64
	for r := range x.within(from, to) {
		times := r.executions(name, from, to)
		if len(times) == 0 && !r.opened(name, to) {
			continue
		}
		found = append(found, rowRuns{r, times})
		for d := range r.lanes {
			r.lanes[d].overlapping(times, func(int) { items++ })
		}
	}
	b.tile.Alone = alone || items > most
	for _, f := range found {
		for d := range f.r.lanes {
			l := &f.r.lanes[d]
			b.inLane = 0
			if b.tile.Alone {
				l.executions(name, from, to, func(i int) {
					if b.tile.Items+int64(b.inLane) < most {
						b.single(l, i, l.at(i))
					} else {
						b.tile.Left++
					}
				})
			} else {
				l.overlapping(f.times, func(i int) { b.single(l, i, l.at(i)) })
			}
			if l.rare != nil {
				for _, s := range l.rare.open { // the last item of the lane
					if s.start <= to && (s.name == name && isScope(s.kind) || !b.tile.Alone && len(f.times) > 0 && s.start <= f.times[len(f.times)-1].to) {
						b.open(s)
					}
				}
			}
			b.laneDone(f.r, laneNumber(d))
		}
	}
	return b.tile
}

// executions calls f with the items of a name that touch [from, to].
func (l *lane) executions(name uint16, from, to int64, f func(i int)) {
	first, end := l.touching(from, to)
	for i := first; i < end; i++ {
		if it := l.at(i); it.name == name && isScope(it.kind) {
			f(i)
		}
	}
}

// executions returns the times of a row's executions of a name that touch [from, to], in
// order.
func (r *row) executions(name uint16, from, to int64) (times []stretch) {
	for d := range r.lanes {
		l := &r.lanes[d]
		l.executions(name, from, to, func(i int) {
			it := l.at(i)
			times = append(times, stretch{it.start, it.start + max(l.durOf(i, it), 0)})
		})
	}
	return joined(times)
}

// joined sorts times, and joins those that touch.
func joined(times []stretch) []stretch {
	slices.SortFunc(times, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	out := times[:0]
	for _, s := range times {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// opened reports whether a scope of a name that began by a time is open.
func (r *row) opened(name uint16, by int64) bool {
	for d := range r.lanes {
		if l := &r.lanes[d]; l.rare != nil && slices.ContainsFunc(l.rare.open, func(s *scope) bool { return s.name == name && isScope(s.kind) && s.start <= by }) {
			return true
		}
	}
	return false
}

// overlapping calls f with the items that touch one of the times, each once.
func (l *lane) overlapping(times []stretch, f func(i int)) {
	next := 0
	for _, s := range times {
		first, end := l.touching(s.from, s.to)
		for next = max(next, first); next < end; next++ {
			f(next)
		}
	}
}
