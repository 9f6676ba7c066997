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
