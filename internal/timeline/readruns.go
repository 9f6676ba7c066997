package timeline

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/format"
)

// runsOf are the executions of a name on a row.
type runsOf struct {
	times []stretch
	depth []int64 // number of executions per lane
}

// readRuns is Runs for an index without all items. It reads the range twice: first to find
// the executions, then their contents.
func (x *Index) readRuns(ctx context.Context, name uint16, from, to, most int64) (*Tile, error) {
	found, total, begin, end := map[uint64]*runsOf{}, int64(0), from, to
	y := x.blank()
	y.choose = func(r *row, s *scope) bool {
		if !s.isRun(name, from, to) {
			return false
		}
		f := found[r.goid]
		if f == nil {
			f = &runsOf{}
			found[r.goid] = f
		}
		for int(s.depth) >= len(f.depth) {
			f.depth = append(f.depth, 0)
		}
		f.depth[s.depth]++
		if total++; total <= most {
			f.times = append(f.times, stretch{s.start, s.start + max(s.dur, 0)})
		}
		begin, end = min(begin, s.start), max(end, s.start+max(s.dur, 0))
		return false
	}
	if err := x.readFrom(ctx, y, from, to); err != nil {
		return nil, err
	}
	if total <= most {
		for _, f := range found {
			f.times = joined(f.times)
		}
		y, items := x.blank(), int64(0)
		reading, enough := context.WithCancel(ctx)
		defer enough()
		y.choose = func(r *row, s *scope) bool {
			f := found[r.goid]
			if f == nil || s.kind == format.KindEvent || s.kind == format.KindPending || !touch(f.times, s) {
				return false
			}
			if items++; items > most {
				enough()
			}
			return items <= most
		}
		if err := x.readFrom(reading, y, begin, end); err != nil && items <= most {
			return nil, err
		}
		if items <= most {
			return y.packRuns(name, from, to, most, false), nil
		}
	}
	x.share(found, most)
	y = x.blank()
	y.choose = func(r *row, s *scope) bool {
		if !s.isRun(name, from, to) || found[r.goid] == nil || int(s.depth) >= len(found[r.goid].depth) {
			return false
		}
		left := &found[r.goid].depth[s.depth]
		*left--
		return *left >= 0
	}
	if err := x.readFrom(ctx, y, from, to); err != nil {
		return nil, err
	}
	tile := y.packRuns(name, from, to, most, true)
	tile.Left += max(total-most, 0)
	return tile, nil
}

// readFrom reads from the begin of the stretch that contains a moment.
func (x *Index) readFrom(ctx context.Context, y *Index, from, to int64) error {
	return x.read(ctx, y, x.thin.begins[x.thin.of(from)], to)
}

// share limits the numbers of executions per lane to most in total, in the tile's order.
func (x *Index) share(found map[uint64]*runsOf, most int64) {
	goids := make([]uint64, 0, len(found))
	for goid := range found {
		if x.byGoid[goid] != nil {
			goids = append(goids, goid)
		}
	}
	slices.SortFunc(goids, func(a, b uint64) int { return cmp.Compare(x.byGoid[a].at, x.byGoid[b].at) })
	for _, goid := range goids {
		list := found[goid].depth
		for d := range list {
			list[d] = min(list[d], most)
			most -= list[d]
		}
	}
}

// isRun reports whether s is an execution of a name that touches [from, to].
func (s *scope) isRun(name uint16, from, to int64) bool {
	return s.name == name && isScope(s.kind) && s.start <= to && max(s.start, s.start+s.dur) >= from
}

// touch reports whether s touches one of the times, which are in order.
func touch(times []stretch, s *scope) bool {
	k := sort.Search(len(times), func(i int) bool { return times[i].to >= s.start })
	return k < len(times) && times[k].from <= s.start+max(s.dur, 0)
}
