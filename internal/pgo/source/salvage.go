package source

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/pgo"
)

// ErrForeign reports that a profile is of another program, so nothing can be salvaged.
var ErrForeign = errors.New("this is a profile of another program: hardly any of its functions outside the standard library exist here")

// Salvaged is a profile adapted to the source.
type Salvaged struct {
	Profile       *pgo.Profile
	Before, After *Report
	Renamed       []Renamed // functions with a new name, the heaviest first
	Moved         int64     // weight of the edges that were changed
	Dropped       int64     // weight of the edges left out because another function has their name now
}

// Renamed is a function of a profile that has a new name.
type Renamed struct {
	Old, New string // folded: [...] stands for type arguments
	Weight   int64  // of the edges from and to it
}

// site is a call of a function of the profile.
type site struct {
	offset int
	callee string // the name in the profile
}

type salvager struct {
	s        *Source
	edges    *pgo.Edges
	anchors  map[string][]anchor        // by the caller's folded name
	incoming map[string]map[string]bool // folded callers by folded callee
	weight   map[string]int64           // by folded name
	to       map[string]string          // new names by old ones, folded
	taken    map[string]bool            // new names that another old name was matched with
	went     map[[2]string]bool         // pairs of types or packages between which functions moved
}

// Salvage returns a profile with its calls at their current positions in the source, as far as they
// still exist. Each of its edges is one of p, or exists in the source. Edges without a position
// whose names are those of other functions of p now are left out. The errors are ErrForeign and
// pgo.ErrOverflow.
func (s *Source) Salvage(p *pgo.Profile) (*Salvaged, error) {
	edges, err := p.Edges()
	if err != nil {
		return nil, err
	}
	r := &Salvaged{Before: s.Check(edges)}
	if r.Before.Foreign {
		return nil, ErrForeign
	}
	v := newSalvager(s, edges)
	v.matchFunctions()
	v.matchClosures()
	moves, dropped := v.moves()
	for e := range moves {
		r.Moved += edges.Weight[e]
	}
	for e := range dropped {
		r.Dropped += edges.Weight[e]
	}
	if r.Profile, err = rewrite(s, p, moves, dropped); err != nil {
		return nil, err
	}
	after, err := r.Profile.Edges()
	if err != nil {
		return nil, err
	}
	r.After = s.Check(after)
	for old, name := range v.to {
		r.Renamed = append(r.Renamed, Renamed{old, name, v.weight[old]})
	}
	slices.SortFunc(r.Renamed, func(a, b Renamed) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Old, b.Old))
	})
	return r, nil
}

func newSalvager(s *Source, edges *pgo.Edges) *salvager {
	v := &salvager{
		s: s, edges: edges, anchors: map[string][]anchor{}, incoming: map[string]map[string]bool{}, weight: map[string]int64{},
		to: map[string]string{}, taken: map[string]bool{}, went: map[[2]string]bool{},
	}
	at := map[site]int{} // the anchor of a caller's offset
	known := map[pgo.Edge]bool{}
	for _, e := range edges.Sorted() {
		from, to := fold(e.Caller), fold(e.Callee)
		v.weight[from] += edges.Weight[e]
		if to != from {
			v.weight[to] += edges.Weight[e]
		}
		if v.incoming[to] == nil {
			v.incoming[to] = map[string]bool{}
		}
		v.incoming[to][from] = true
		i, ok := at[site{e.Offset, from}]
		if !ok {
			i = len(v.anchors[from])
			at[site{e.Offset, from}] = i
			v.anchors[from] = append(v.anchors[from], anchor{offset: e.Offset})
		}
		if once := (pgo.Edge{Caller: from, Callee: e.Callee, Offset: e.Offset}); !known[once] {
			known[once] = true
			v.anchors[from][i].callees = append(v.anchors[from][i].callees, e.Callee)
		}
	}
	for _, list := range v.anchors {
		slices.SortFunc(list, func(a, b anchor) int { return cmp.Compare(a.offset, b.offset) })
	}
	return v
}

// target returns the current name of a function of the profile, or "" if it has none and its old
// name is another's.
func (v *salvager) target(name string) string {
	if to, ok := v.to[fold(name)]; ok {
		if n, ok := unfold(to, name); ok {
			return n
		}
	} else if v.displaced(name) {
		return ""
	}
	return name
}

// now returns the function that a function of the profile is now, or nil.
func (v *salvager) now(folded string) *fn {
	if f := v.s.funcs[fold(v.target(folded))]; f != nil && f.body {
		return f
	}
	return nil
}

// moves returns the new edges by those of the profile, where they differ, and the edges of the
// profile that must be dropped.
func (v *salvager) moves() (moves map[pgo.Edge]pgo.Edge, dropped map[pgo.Edge]bool) {
	moves, dropped = map[pgo.Edge]pgo.Edge{}, map[pgo.Edge]bool{}
	certain := v.s.instances()
	known := func(name string) bool {
		return v.s.funcs[fold(name)] == nil || v.s.funcs[fold(name)].args == 0 || certain[outermost(name)]
	}
	offsets := map[string]map[site]int{}
	for name, list := range v.anchors {
		if f := v.now(name); f != nil {
			offsets[name] = v.offsets(list, f)
		}
	}
	for e := range maps.Keys(v.edges.Weight) {
		offset, ok := offsets[fold(e.Caller)][site{e.Offset, e.Callee}]
		to := pgo.Edge{Caller: v.target(e.Caller), Callee: v.target(e.Callee), Offset: offset}
		stays := pgo.Edge{Caller: to.Caller, Callee: to.Callee, Offset: e.Offset}
		if to.Caller != e.Caller && !known(to.Caller) || to.Callee != e.Callee && !known(to.Callee) {
			ok = false
		}
		switch never := v.s.Reason(stays).Never(); {
		case ok && to != e && v.s.Reason(to).Found() && !never:
			moves[e] = to
		case (!ok || to != e) && !v.s.Reason(e).Never() && (v.displaced(e.Caller) || v.displaced(e.Callee)):
			dropped[e] = true
		}
	}
	return moves, dropped
}

// displaced reports whether a name of the profile is now that of another of its functions, or of a
// closure in one.
func (v *salvager) displaced(name string) bool {
	for name = fold(name); name != ""; name = parent(name) {
		if v.taken[name] {
			return true
		}
	}
	return false
}
