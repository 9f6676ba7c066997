package source

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Evidence that a function of the profile is a given function of the source, in addition to
// the similarity of their calls, 0 to 1.
const (
	sameName    = 0.5 // ignoring case
	otherType   = 0.3 // the same name, of a method of another type
	sameRest    = 0.3 // in another package, with the same type name
	samePackage = 0.2
	sameMoved   = 0.4 // others of the type or package moved there
	elsewhere   = 0.4 // subtracted if both package and name differ
	sameCaller  = 0.6 // callers call it where they called the old function

	enough = 0.7 // minimum score of a match
	apart  = 0.1 // minimum distance to the second best
	alike  = 0.3 // minimum similarity of two and more calls
	rounds = 6   // each round may match functions that earlier ones left open
)

// pool has the functions of the main module that are not in the profile, among which functions
// that are gone may be found.
type pool struct {
	funcs    map[string]*fn
	byName   map[string][]*fn
	byCallee map[string][]*fn
}

func (v *salvager) pool() *pool {
	p := &pool{map[string]*fn{}, map[string][]*fn{}, map[string][]*fn{}}
	for _, name := range slices.Sorted(maps.Keys(v.s.funcs)) {
		f := v.s.funcs[name]
		if _, known := v.weight[name]; known || !f.pkg.ours || f.outer != "" || !f.body || v.taken[name] {
			continue
		}
		p.funcs[name] = f
		key := strings.ToLower(base(name))
		p.byName[key] = append(p.byName[key], f)
		seen := map[string]bool{}
		for i := range f.calls {
			if c := f.calls[i].callee; c != "" && !seen[c] {
				seen[c] = true
				p.byCallee[c] = append(p.byCallee[c], f)
			}
		}
	}
	return p
}

// gone returns the functions of the profile that the source lacks and may have elsewhere, the
// heaviest first.
func (v *salvager) gone() []string {
	names := map[string]bool{}
	for name := range v.weight {
		names[name] = true
		if !v.s.inlined(name) {
			names[outermost(name)] = true // of a closure; the profile may have only the closure
		}
	}
	var list []string
	for name := range names {
		pkg, _ := split(name)
		u := v.s.pkgs[pkg]
		switch {
		case pkg == "" || parent(name) != "" || runtimes(name) || v.s.funcs[name] != nil || v.s.inlined(name) || v.to[name] != "":
		case u != nil && (u.std || u.err != nil):
		default:
			list = append(list, name)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(v.weight[b], v.weight[a]), cmp.Compare(a, b))
	})
	return list
}

// matchFunctions finds new names of functions that are gone.
func (v *salvager) matchFunctions() {
	for range rounds {
		gone, p := v.gone(), v.pool()
		votes := v.votes(p)
		type match struct {
			old, name string
			points    float64
		}
		var found []match
		for _, old := range gone {
			if name, points := v.bestOf(old, p, votes[old]); name != "" {
				found = append(found, match{old, name, points})
			}
		}
		if len(found) == 0 {
			return
		}
		slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.points, a.points) })
		for _, m := range found {
			if !v.taken[m.name] {
				v.taken[m.name] = true
				v.to[m.old] = m.name
				if a, b := holder(m.old), holder(m.name); a != b {
					v.went[[2]string{a, b}] = true
				}
			}
		}
	}
}

// bestOf returns the function of the pool that matches old best, or "" if none is similar
// enough or two are.
func (v *salvager) bestOf(old string, p *pool, votes map[string]float64) (string, float64) {
	candidates := map[*fn]bool{}
	add := func(list []*fn) {
		for _, f := range list {
			candidates[f] = true
		}
	}
	add(p.byName[strings.ToLower(base(old))])
	for _, a := range v.anchors[old] {
		for _, callee := range a.callees {
			if !runtimes(callee) {
				add(p.byCallee[fold(v.target(callee))])
			}
		}
	}
	for name := range votes {
		candidates[p.funcs[name]] = true
	}
	best, first, second := "", 0.0, 0.0
	for f := range candidates {
		points := v.points(old, f, votes[f.name])
		switch {
		case points > first || points == first && f.name < best:
			best, first, second = f.name, points, max(second, first)
		case points > second:
			second = points
		}
	}
	if first < enough || first-second < apart {
		return "", 0
	}
	return best, first
}

// points returns the evidence that old is f now. It is 0 if the calls differ too much.
func (v *salvager) points(old string, f *fn, vote float64) float64 {
	if strings.Contains(old, "[...]") != strings.Contains(f.name, "[...]") {
		return 0
	}
	like, n := v.similarity(old, f)
	if n >= 2 && like < alike || n < 2 && !namesAlike(base(old), base(f.name)) && !v.sharesCaller(old, f) {
		return 0
	}
	points := vote * sameCaller
	if n >= 2 {
		points += like
	} else {
		points += like / 2
	}
	oldPkg, oldRest := split(old)
	pkg, rest := split(f.name)
	if pkg == oldPkg {
		points += samePackage
	}
	switch {
	case !strings.EqualFold(base(old), base(f.name)):
		if pkg != oldPkg {
			points -= elsewhere
		}
	case strings.EqualFold(rest, oldRest):
		points += sameName + sameRest
	case strings.Contains(oldRest, ".") && strings.Contains(rest, "."):
		points += otherType
	default:
		points += sameName
	}
	if strings.EqualFold(base(old), base(f.name)) && v.went[[2]string{holder(old), holder(f.name)}] {
		points += sameMoved
	}
	return points
}

// namesAlike reports whether one of two names contains the other, ignoring case.
func namesAlike(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// sharesCaller reports whether a caller of old calls f in the source.
func (v *salvager) sharesCaller(old string, f *fn) bool {
	for from := range v.incoming[old] {
		if c := v.now(from); c != nil && slices.ContainsFunc(c.calls, func(c call) bool { return c.callee == f.name }) {
			return true
		}
	}
	return false
}

// holder returns a function's name without its base: its package and type.
func holder(name string) string { return strings.TrimSuffix(name, "."+base(name)) }

// similarity returns the share of the profile's calls of old that f has in the same order, and
// the number of lines compared.
func (v *salvager) similarity(old string, f *fn) (float64, int) {
	var list []anchor
	for _, a := range v.anchors[old] {
		a.callees = slices.DeleteFunc(slices.Clone(a.callees), runtimes)
		if len(a.callees) > 0 {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return 0, 0
	}
	same := 0
	for _, j := range v.align(list, f.lines()) {
		if j >= 0 {
			same++
		}
	}
	return float64(same) / float64(len(list)), len(list)
}

// votes returns, for functions that are gone, which functions of the pool their callers call
// in place of them, as shares of the callers.
func (v *salvager) votes(p *pool) map[string]map[string]float64 {
	votes := map[string]map[string]float64{}
	callers := map[string]int{}
	for _, from := range slices.Sorted(maps.Keys(v.anchors)) {
		f, list := v.now(from), v.anchors[from]
		if f == nil {
			continue
		}
		lines := f.lines()
		at := v.align(list, lines)
		for i, a := range list {
			for _, callee := range a.callees {
				old := fold(callee)
				if at[i] >= 0 || v.s.funcs[fold(v.target(callee))] != nil || runtimes(old) {
					continue
				}
				callers[old]++
				if name := between(lines, at, i, p); name != "" {
					if votes[old] == nil {
						votes[old] = map[string]float64{}
					}
					votes[old][name]++
				}
			}
		}
	}
	for old, list := range votes {
		for name := range list {
			list[name] /= float64(callers[old])
		}
	}
	return votes
}

// between returns the only function of the pool that is called between the neighbours of
// anchor i, or "" if there is none or several.
func between(lines [][]*call, at []int, i int, p *pool) string {
	low, high := 0, len(lines)
	for k := i - 1; k >= 0; k-- {
		if at[k] >= 0 {
			low = at[k] + 1
			break
		}
	}
	for k := i + 1; k < len(at); k++ {
		if at[k] >= 0 {
			high = at[k]
			break
		}
	}
	name := ""
	for _, line := range lines[low:max(low, high)] {
		for _, c := range line {
			if c.kind != direct || p.funcs[c.callee] == nil || c.callee == name {
				continue
			}
			if name != "" {
				return ""
			}
			name = c.callee
		}
	}
	return name
}
