package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// news has the latest items, so that a page that has the rest can receive only these.
type news struct {
	list  []scope
	first int64 // number of the first in list
	last  int64 // number after the last
}

// newsKept is the number of latest scopes kept: a page that fell further behind loads the
// trace again.
const newsKept = 1 << 18

func (n *news) add(list ...*scope) {
	for _, s := range list {
		if s.flags&flagOpen != 0 {
			continue // listed separately
		}
		n.list = append(n.list, *s)
		n.last++
	}
	if len(n.list) >= 2*newsKept {
		n.drop(len(n.list) - newsKept)
	}
}

func (n *news) drop(count int) {
	n.list = append([]scope(nil), n.list[count:]...)
	n.first += int64(count)
}

// restart makes every page load the trace again.
func (n *news) restart() {
	n.last++
	n.list, n.first = nil, n.last
}

// since returns the items after the cursor; ok is false if these are not available.
func (n *news) since(cursor int64) (list []scope, ok bool) {
	if cursor < n.first || cursor > n.last {
		return nil, false
	}
	return n.list[cursor-n.first:], true
}

// Cursor returns the current position, for Since.
func (x *Index) Cursor() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.news.last
}

// Since packs the items that ended, and the instants that were added, since the cursor, each
// exactly. next is the cursor for the next call. ok is false if these are no longer
// available, or if an item has moved to another lane. Then the whole must be requested
// again.
func (x *Index) Since(cursor int64) (t *Tile, next int64, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	list, ok := x.news.since(cursor)
	if !ok {
		return nil, x.news.last, false
	}
	b := x.tiler(0, x.end, 0)
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b scope) int {
		return cmp.Or(cmp.Compare(newsLane(&a), newsLane(&b)), cmp.Compare(a.start, b.start))
	})
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && newsLane(&sorted[n]) == newsLane(&sorted[0]) {
			n++
		}
		b.newsIn(sorted[:n])
		sorted = sorted[n:]
	}
	return b.tile, x.news.last, true
}

// newsLane orders news by lane: the rows', by row and depth, then the counters, then records
// about goroutines.
func newsLane(s *scope) int64 {
	lane := int64(laneNumber(int(s.depth)))
	switch s.kind {
	case format.KindEvent, format.KindPending:
		lane = laneInstants
	case format.KindCounter:
		return math.MaxInt64>>1 + int64(s.name)
	case format.KindTrack, format.KindGo:
		return math.MaxInt64
	}
	return int64(s.row)<<24 | lane
}

// newsIn adds the news of one lane.
func (b *tiler) newsIn(list []scope) {
	switch s := &list[0]; s.kind {
	case format.KindCounter:
		b.c.seriesName.u(uint64(s.name))
		b.c.seriesCount.u(uint64(len(list)))
		for i := range list {
			b.c.seriesTime.d(list[i].start)
			b.c.seriesValues.f(math.Float64frombits(uint64(list[i].cpu)))
		}
	case format.KindTrack, format.KindGo:
		for i := range list {
			r := b.x.rows[list[i].row]
			b.row(r)
			if list[i].kind == format.KindGo && r.extra != nil && r.extra.linked {
				b.link(r)
			}
		}
	default:
		l := &lane{}
		for i := range list {
			l.put(&list[i])
		}
		b.lane(b.x.rows[s.row], int32(newsLane(s)&(1<<24-1)), l)
	}
}
