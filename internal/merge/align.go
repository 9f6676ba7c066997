package merge

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// group are inputs of one clock.
type group struct {
	inputs []*input
	ahead  int64 // what makes its monotonic clock a wall clock
	from   int64 // its time, as it has it
	to     int64

	// What makes its wall clock that of the first group: see aligned.
	add      int64
	slope    float64
	zero     int64 // where slope begins
	known    bool
	err      float64
	violated bool

	apart bool // it has the boot id of a group before it, and another clock
}

// aligned returns the first group's time of a time of this group.
func (g *group) aligned(wall int64) int64 {
	if g.slope == 0 {
		return wall + g.add
	}
	return wall + g.add + int64(math.Floor(g.slope*float64(wall-g.zero)))
}

// align finds out what all clocks have to do with that of the first input.
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

// edge is what pairs tell of two groups: what makes the time of b that of a.
type edge struct {
	a, b         int
	lows, highs  []point // bounds of it, at times of b
	base, origin int64   // what the points' d and t are counted from
	fit
}

// span aligns the groups to the first one, over the pairs that say most. A group that no
// pairs lead to keeps its wall clock; so do those that are aligned to it.
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

// rank has pairs that contradict one another used last.
func rank(e *edge) int {
	if e.violated {
		return 1
	}
	return 0
}

// follow aligns g by what makes its time that of another group, which is aligned: add base, and
// what f says at a time from origin on.
func (g *group) follow(p *group, base, origin int64, f fit) {
	g.slope = f.slope + p.slope + f.slope*p.slope
	g.zero = origin
	add := base + int64(math.Round(f.add))
	g.add = p.aligned(origin+add) - origin
	g.known, g.err, g.violated = p.known, p.err+f.err, p.violated || f.violated
}
