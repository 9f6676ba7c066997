package source

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// matchClosures finds the new numbers of closures. It aligns those of a function with its
// closures in the source, by their callees and callers. Outer closures come first.
func (v *salvager) matchClosures() {
	type group struct {
		outer string
		loop  bool // bodies of loops over functions are numbered separately
	}
	groups := map[group][]string{}
	for name := range v.weight {
		if outer := parent(name); outer != "" {
			g := group{outer, isLoop(name)}
			groups[g] = append(groups[g], name)
		}
	}
	byDepth := func(a, b group) int {
		return cmp.Or(cmp.Compare(len(a.outer), len(b.outer)), cmp.Compare(a.outer, b.outer))
	}
	for _, g := range slices.SortedFunc(maps.Keys(groups), byDepth) {
		today := v.to[g.outer]
		if today == "" && !v.displaced(g.outer) {
			today = g.outer
		}
		var list []*fn
		for _, f := range v.s.children[today] {
			if isLoop(f.name) == g.loop {
				list = append(list, f)
			}
		}
		v.matchGroup(groups[g], list)
	}
}

func isLoop(name string) bool { return strings.Contains(closureEnd.FindString(name), "-range") }

// number returns the number of a closure.
func number(name string) int {
	n, _ := strconv.Atoi(closureEnd.FindStringSubmatch(name)[1]) // the pattern has digits
	return n
}

func (v *salvager) matchGroup(olds []string, list []*fn) {
	slices.SortFunc(olds, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	pairs := lcs(len(olds), len(list), func(i, j int) int64 {
		return near(v.closureScore(olds[i], list[j]), number(olds[i])-number(list[j].name))
	})
	for i, j := range pairs {
		if j >= 0 && list[j].name != olds[i] {
			v.to[olds[i]], v.taken[list[j].name] = list[j].name, true
		}
	}
}

// closureScore returns the evidence that a closure of the profile is f; 0: it can't be.
func (v *salvager) closureScore(old string, f *fn) int64 {
	called := v.calledAs(old, f)
	like, n := v.similarity(old, f)
	switch {
	case !called || n > 0 && like == 0:
		return 0
	case n == 0:
		return 1
	}
	return 1 + int64(8*like)
}

// calledAs reports whether a caller of old in the profile has a call that can reach f, or no
// caller is known.
func (v *salvager) calledAs(old string, f *fn) bool {
	known := false
	for from := range v.incoming[old] {
		caller := v.now(from)
		if caller == nil {
			continue
		}
		known = true
		for i := range caller.calls {
			c := &caller.calls[i]
			if c.callee == f.name || c.kind == byValue && v.s.reaches(c, "", f.name) {
				return true
			}
		}
	}
	return !known
}
