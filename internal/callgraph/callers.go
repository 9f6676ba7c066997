package callgraph

import (
	"cmp"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Callers is a function with its callers and callees.
type Callers struct {
	Func             string
	Cost             *Cost
	Callers, Callees []Edge
}

// Edge is a caller or a callee, with the part of the function's inclusive metrics that
// belongs to the calls between the two.
type Edge struct {
	Func string
	Attr []int64
	Cost *Cost // of the caller or callee itself
}

// CallersOf finds the callers and callees of a function by its whole name, which may be
// <Total>. costs is the result of Sum by function. It returns nil if there is no such
// function.
func CallersOf(p *samples.Profile, costs map[string]*Cost, name string) *Callers {
	x := &Callers{Func: name, Cost: costs[name]}
	if name == samples.TotalName {
		x.Cost = TotalCost(p)
	}
	if x.Cost == nil {
		return nil
	}
	callers, callees := map[string][]int64{}, map[string][]int64{}
	count := func(to map[string][]int64, key string, s *samples.Stack) {
		if to[key] == nil {
			to[key] = make([]int64, len(p.Metrics))
		}
		add(to[key], s.Values)
	}
	for i := range p.Stacks {
		s := &p.Stacks[i]
		at := len(s.Frames) // <Total>
		if name != samples.TotalName {
			at = slices.IndexFunc(s.Frames, func(f *symbols.Frame) bool { return f.Func == name })
		}
		switch {
		case at < 0:
			continue
		case at == len(s.Frames):
		case at == len(s.Frames)-1:
			count(callers, samples.TotalName, s)
		default:
			count(callers, s.Frames[at+1].Func, s)
		}
		if at > 0 {
			count(callees, s.Frames[at-1].Func, s)
		}
	}
	total := TotalCost(p)
	edges := func(m map[string][]int64) (list []Edge) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			e := Edge{k, m[k], costs[k]}
			if k == samples.TotalName {
				e.Cost = total
			}
			list = append(list, e)
		}
		return list
	}
	x.Callers, x.Callees = edges(callers), edges(callees)
	return x
}

// TotalCost returns the cost of <Total>: everything, inclusive.
func TotalCost(p *samples.Profile) *Cost {
	c := newCost(p)
	copy(c.Incl, p.Total())
	copy(c.Excl, c.Incl)
	return c
}

// Node is a function in the call tree: called on one path from <Total>.
type Node struct {
	Func     string
	Excl     []int64
	Incl     []int64
	Children []*Node // sorted by the metric, largest first
	cut      []int64 // values of stacks that lack callers and may belong to this path; nil: none
}

// Cost returns the function's cost on this path.
func (n *Node) Cost() *Cost {
	c := &Cost{Excl: n.Excl, Incl: n.Incl}
	c.lacks(n.cut)
	return c
}

// Tree returns the stacks as a call tree, whose root is <Total>. Children are sorted by a
// metric.
func Tree(p *samples.Profile, metric int) *Node {
	type edge struct {
		parent *Node
		name   string
	}
	nodes := map[edge]*Node{}
	fresh := func(name string) *Node {
		c := newCost(p)
		return &Node{Func: name, Excl: c.Excl, Incl: c.Incl}
	}
	root, cut := fresh(samples.TotalName), p.Truncated()
	for i := range p.Stacks {
		s := &p.Stacks[i]
		n, lacking := root, cut != nil && s.Truncated()
		add(n.Incl, s.Values)
		for d := len(s.Frames) - 1; d >= 0; d-- {
			k := edge{n, s.Frames[d].Func}
			child := nodes[k]
			if child == nil {
				if child = fresh(k.name); !lacking {
					child.cut = cut
				}
				nodes[k] = child
				n.Children = append(n.Children, child)
			}
			n = child
			add(n.Incl, s.Values)
		}
		add(n.Excl, s.Values)
	}
	root.sort(p, metric)
	return root
}

// sort sorts all children by the metric. It does not recurse: stacks of a corrupt trace may
// be very deep.
func (n *Node) sort(p *samples.Profile, metric int) {
	for todo := []*Node{n}; len(todo) > 0; {
		n, todo = todo[len(todo)-1], todo[:len(todo)-1]
		slices.SortFunc(n.Children, func(a, b *Node) int {
			return cmp.Or(cmp.Compare(Abs(p.Value(b.Incl, metric)), Abs(p.Value(a.Incl, metric))), cmp.Compare(a.Func, b.Func))
		})
		todo = append(todo, n.Children...)
	}
}
