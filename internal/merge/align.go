package merge

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// group is the inputs of one clock.
type group struct {
	inputs []*input
	ahead  int64 // added to its monotonic clock, gives its wall clock
	from   int64 // its first time, by its wall clock
	to     int64

	// Convert its wall clock to that of the first group: see aligned.
	add      int64
	slope    float64
	zero     int64 // the time at which the slope adds nothing
	known    bool
	err      float64
	violated bool

	apart bool // a group before it has the same boot id, and another clock
}

// aligned converts a time of this group to the first group's time.
func (g *group) aligned(wall int64) int64 {
	if g.slope == 0 {
		return wall + g.add
	}
	return wall + g.add + int64(math.Floor(g.slope*float64(wall-g.zero)))
}

// align relates all clocks to that of the first input.
func (m *merger) align(ctx context.Context) error {
	m.of *= 2
	links, err := m.links(ctx)
	if err != nil {
		return err
	}
	groups := m.groups(m.compare(links))
	groups[0].known = true
	edges, pairs := links.edges(m.inputs, groups)
	m.report.Pairs = pairs
	span(groups, edges)
	for _, in := range m.inputs {
		in.start = in.group.aligned(in.group.ahead + in.mono)
	}
	return nil
}

// edge holds the bounds that pairs set for two groups: on what converts the time of b to that of a.
type edge struct {
	a, b         int
	lows, highs  []point // bounds, at times of b
	base, origin int64   // subtracted from the points' d and t
	fit
}

// span aligns the groups to the first one, along the edges with the smallest errors. A group
// without an edge keeps its wall clock; so do those that are aligned to it.
func span(groups []*group, edges map[[2]int]*edge) {
	list := make([]*edge, 0, len(edges))
	for _, e := range edges {
		e.fit = fitted(e.lows, e.highs, float64(groups[e.b].from-e.origin), float64(groups[e.b].to-e.origin))
		list = append(list, e)
	}
	slices.SortFunc(list, func(x, y *edge) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.err, y.err), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	tree, part := map[int][]*edge{}, make([]int, len(groups))
	for i := range part {
		part[i] = i
	}
	for _, e := range list {
		if from, to := part[e.b], part[e.a]; from != to {
			tree[e.a], tree[e.b] = append(tree[e.a], e), append(tree[e.b], e)
			for i := range part {
				if part[i] == from {
					part[i] = to
				}
			}
		}
	}
	done := make([]bool, len(groups))
	var walk func(at int)
	walk = func(at int) {
		done[at] = true
		for _, e := range tree[at] {
			if e.a == at && !done[e.b] {
				groups[e.b].follow(groups[at], e.base, e.origin, e.fit)
				walk(e.b)
			} else if e.b == at && !done[e.a] {
				back := e.fit
				back.slope = 1/(1+e.slope) - 1
				back.add = -e.add * (1 + back.slope)
				groups[e.a].follow(groups[at], -e.base, e.origin+e.base, back)
				walk(e.a)
			}
		}
	}
	for i := range groups {
		if !done[i] {
			walk(i)
		}
	}
}

// rank sorts edges with contradictory pairs last.
func rank(e *edge) int {
	if e.violated {
		return 1
	}
	return 0
}

// follow aligns g to another, aligned group: its time plus base, plus f's line at a time since
// origin, is the other group's time.
func (g *group) follow(p *group, base, origin int64, f fit) {
	g.slope = f.slope + p.slope + f.slope*p.slope
	g.zero = origin
	add := base + int64(math.Round(f.add))
	g.add = p.aligned(origin+add) - origin
	g.known, g.err, g.violated = p.known, p.err+f.err, p.violated || f.violated
}

// maxDrift is the largest relative difference of two clocks' rates: quartz differs by less.
const maxDrift = 100e-6

// point is a bound, at time t of one clock, of the difference d to the other.
type point struct{ t, d float64 }

// fit is a line between bounds: add + slope × t, added to one clock, gives the other.
type fit struct {
	add, slope float64
	err        float64 // its largest error; if violated, half of the bounds' overlap
	violated   bool    // no line is between all bounds
}

// bounds limit lines: these lie above all lows and below all highs. Only the points of both that
// some line can touch are kept.
type bounds struct{ lows, highs []point }

// fitted returns the line that is farthest from all bounds. Its error is the largest distance,
// between two times, of other lines within the bounds and no steeper than maxDrift. A line without
// drift is preferred if it has at least half the room, since most clocks have almost no drift.
func fitted(lows, highs []point, from, to float64) fit {
	b := bounds{hull(lows, 1), hull(highs, -1)}
	best := highest(b.room, -maxDrift, maxDrift)
	if still := b.room(0); still >= 0 && still >= b.room(best)/2 {
		best = 0
	}
	f := fit{slope: best, add: (b.low(best) + b.high(best)) / 2}
	if room := b.room(best); room < 0 {
		f.violated, f.err = true, -room/2
		return f
	}
	// The possible slopes lie around it: room is concave.
	least, most := b.last(best, -maxDrift), b.last(best, maxDrift)
	for _, t := range []float64{from, to} {
		up := func(s float64) float64 { return b.high(s) + s*t }
		down := func(s float64) float64 { return -b.low(s) - s*t }
		at := f.add + f.slope*t
		f.err = max(f.err, up(highest(up, least, most))-at, down(highest(down, least, most))+at)
	}
	return f
}

// low and high are the limits of add for a line of a slope.
func (b *bounds) low(slope float64) float64 {
	most := math.Inf(-1)
	for _, p := range b.lows {
		most = max(most, p.d-slope*p.t)
	}
	return most
}

func (b *bounds) high(slope float64) float64 {
	least := math.Inf(1)
	for _, p := range b.highs {
		least = min(least, p.d-slope*p.t)
	}
	return least
}

// room is high less low; below 0 no line of that slope is possible.
func (b *bounds) room(slope float64) float64 { return b.high(slope) - b.low(slope) }

// last returns the last slope, from a possible one towards limit, up to which all are possible.
func (b *bounds) last(possible, limit float64) float64 {
	if b.room(limit) >= 0 {
		return limit
	}
	for range 60 {
		if mid := (possible + limit) / 2; b.room(mid) >= 0 {
			possible = mid
		} else {
			limit = mid
		}
	}
	return possible
}

// highest returns the argument at which a concave function is highest.
func highest(f func(float64) float64, from, to float64) float64 {
	for range 100 {
		a, b := from+(to-from)/3, to-(to-from)/3
		if f(a) < f(b) {
			from = a
		} else {
			to = b
		}
	}
	return (from + to) / 2
}

// hull returns the points that a line above all of them can touch (side 1), or one below
// all of them (side −1), by time.
func hull(points []point, side float64) (kept []point) {
	points = slices.SortedFunc(slices.Values(points), func(a, b point) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(b.d*side, a.d*side))
	})
	for i, p := range points {
		if i > 0 && p.t == points[i-1].t {
			continue
		}
		for len(kept) > 1 {
			a, b := kept[len(kept)-2], kept[len(kept)-1]
			if side*((b.d-a.d)*(p.t-a.t)-(p.d-a.d)*(b.t-a.t)) > 0 {
				break
			}
			kept = kept[:len(kept)-1]
		}
		kept = append(kept, p)
	}
	return kept
}
