package doctor

import (
	"cmp"
	"slices"
)

// Costs of a goroutine in ns, with the execution trace on: to create, switch to and end it,
// and to wake the goroutine that waits for it. Measured were 350 and 450 ns in loops that do
// nothing else, and half as much again in a program that sorted. The numbers are low on
// purpose: with 800 and 1,000 ns, the rule reported half of the time for a gain of a fifth.
const (
	goroutineCost = 500
	joinCost      = 400
)

// makers are the goroutines that one function starts, on any of its lines, as a function
// does that divides its work.
type makers struct {
	gs     []*gor
	median int64 // ns that the median goroutine ran
	joins  int64 // waits of others that one of them ended
}

// tooFineLimits are the thresholds of tooFine.
var tooFineLimits = struct{ task, overhead float64 }{
	task:     16,   // the median goroutine's run time, as a multiple of a goroutine's cost
	overhead: 0.06, // of the CPU time
}

// tooFineFacts describes goroutines with little work.
type tooFineFacts struct {
	goroutines int
	places     int   // in which they are started
	median     int64 // ns that the median one ran
	each       int64 // ns that each costs
}

// tooFine: goroutines with little work each are so many that starting them, and waiting for
// them, takes a good part of the CPU time. The rule requires both little work and a high
// cost: a few short goroutines cost nothing. Share is their cost as a part of the CPU time
// that the program used; gain is their cost as a part of the cores that it used. If no
// single function starts enough, all of them together may.
func (m *model) tooFine() (fs []Finding) {
	used := m.used()
	var fine []*makers
	for _, k := range m.makers() {
		if float64(k.median) > tooFineLimits.task*goroutineCost {
			continue
		}
		fine = append(fine, k)
		if f, ok := m.fine(k, 1, used); ok {
			fs = append(fs, f)
		}
	}
	if len(fs) > 0 || len(fine) < 2 {
		return fs
	}
	slices.SortStableFunc(fine, func(a, b *makers) int { return cmp.Compare(len(b.gs), len(a.gs)) })
	all := &makers{}
	for _, k := range fine {
		all.gs, all.median, all.joins = append(all.gs, k.gs...), max(all.median, k.median), all.joins+k.joins
	}
	if f, ok := m.fine(all, len(fine), used); ok {
		fs = append(fs, f)
	}
	return fs
}

// makers returns the functions that start goroutines whose whole life is recorded, in the
// order of their first one.
func (m *model) makers() (list []*makers) {
	by := map[string]*makers{}
	of := map[*gor]*makers{}
	for g := range m.users() {
		if !g.created || !g.ended {
			continue
		}
		name := ""
		if f := m.frame(g.site); f != nil {
			name = f.Func
		}
		k := by[name]
		if k == nil {
			k = &makers{}
			by[name] = k
			list = append(list, k)
		}
		k.gs = append(k.gs, g)
		of[g] = k
	}
	for _, v := range m.did() {
		if v.by != 0 && waits(v.state) {
			if k := of[m.byID[v.by]]; k != nil {
				k.joins++
			}
		}
	}
	for _, k := range list {
		ran := make([]int64, len(k.gs))
		for i, g := range k.gs {
			ran[i] = g.ran(g.from, g.to)
		}
		slices.Sort(ran)
		k.median = ran[len(ran)/2]
	}
	return list
}

// fine returns the finding about goroutines with little work, started in this many places.
func (m *model) fine(k *makers, places int, used float64) (f Finding, ok bool) {
	cost := float64(int64(len(k.gs))*goroutineCost + k.joins*joinCost)
	share := cost / used
	if share < tooFineLimits.overhead {
		return f, false
	}
	times := map[uint16]int64{}
	for i, g := range k.gs {
		if i%(len(k.gs)/1000+1) == 0 {
			g.scopesIn(g.from, g.to, times)
		}
	}
	weight := cost / max(used, float64(m.span()))
	f = Finding{Object: m.place(k.gs[0].site), Scopes: m.most(times, total(times)), Share: share, weight: weight, savedWork: weight, Confidence: 0.8}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, g := range k.gs {
			yield(g.from, g.to)
		}
	})
	f.facts = tooFineFacts{len(k.gs), places, k.median, goroutineCost + k.joins*joinCost/int64(len(k.gs))}
	return f, true
}
