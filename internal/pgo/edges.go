package pgo

import (
	"cmp"
	"math"
	"slices"
)

// Edge is a call as the compiler identifies it.
type Edge struct {
	Caller, Callee string
	Offset         int // lines from the caller's first line to the call's
}

// Edges are the calls of a profile with their weights: all that the compiler reads of it.
type Edges struct {
	Weight map[Edge]int64
	Total  int64
	// Lines reports that the first line of some function is known. If none is, the compiler
	// refuses the profile.
	Lines bool
}

// HotShare is the share of all weight, in percent, that the hot edges have: the compiler's
// -d=pgoinlinecdfthreshold.
const HotShare = 99

// node is a node of the compiler's graph: a line at an address.
type node struct {
	name        string
	start, line int
	caller      bool // the address is the caller's, which differs from the leaf's
}

// Edges returns the edges that the compiler reads from p. The error is ErrOverflow.
func (p *Profile) Edges() (*Edges, error) {
	e := &Edges{Weight: map[Edge]int64{}}
	type link struct{ from, to node }
	seen := map[link]bool{}
	for pair, w := range p.Weight {
		if w == 0 {
			continue
		}
		clear(seen)
		var parent node
		has := false
		walk := func(location Location, apart bool) error {
			for i := len(location) - 1; i >= 0; i-- {
				f := &location[i]
				n := node{f.Func, f.Start, f.Line, apart}
				e.Lines = e.Lines || f.Start != 0
				if has && n != parent && !seen[link{parent, n}] {
					seen[link{parent, n}] = true
					edge := Edge{parent.name, n.name, parent.line - parent.start}
					if w > math.MaxInt64-e.Total {
						return ErrOverflow
					}
					e.Weight[edge] += w
					e.Total += w
				}
				parent, has = n, true
			}
			return nil
		}
		if pair.Caller != None {
			if err := walk(p.Locations[pair.Caller], !pair.Same); err != nil {
				return nil, err
			}
		}
		if err := walk(p.Locations[pair.Leaf], false); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Sorted returns the edges in the compiler's order: the heaviest first, equal ones by caller,
// callee and line.
func (e *Edges) Sorted() []Edge {
	type weighed struct { // avoids repeated lookups in comparisons
		Edge
		weight int64
	}
	all := make([]weighed, 0, len(e.Weight))
	for edge, w := range e.Weight {
		all = append(all, weighed{edge, w})
	}
	slices.SortFunc(all, func(a, b weighed) int {
		if c := cmp.Compare(b.weight, a.weight); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Offset, b.Offset))
	})
	list := make([]Edge, len(all))
	for i := range all {
		list[i] = all[i].Edge
	}
	return list
}

// Hot returns how many of the sorted edges the compiler regards as hot: the heaviest ones,
// until their sum exceeds share percent of all weight.
func (e *Edges) Hot(sorted []Edge, share float64) int {
	sum := int64(0)
	for i, edge := range sorted {
		sum += e.Weight[edge]
		if float64(sum)/float64(e.Total)*100 > share {
			return i + 1
		}
	}
	return len(sorted)
}
