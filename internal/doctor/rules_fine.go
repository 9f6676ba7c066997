package doctor

import (
	"cmp"
	"slices"
)

// What a goroutine costs, with the execution trace on: to make it, switch to it and end it,
// and to wake who waits until it is done. Where this was measured it was 350 and 450 ns in
// loops that do nothing else, and half as much again where a program sorted by them. A
// gain is told by these numbers, so that they are rather too low: with 800 and 1,000 ns, half
// of the time was told for what gained a fifth.
const (
	goroutineCost = 500
	joinCost      = 400
)

// makers are the goroutines that one function makes, in however many lines, as one does
// that divides its work.
type makers struct {
	gs     []*gor
	median int64 // of what they ran
	joins  int64 // waits of others that one of them ended
}

// tooFineLimits say from which numbers on tooFine is told.
var tooFineLimits = struct{ task, overhead float64 }{
	task:     16,   // times what a goroutine costs, that the median one runs
	overhead: 0.06, // of the CPU time
}

// tooFineFacts are of goroutines with little work.
type tooFineFacts struct {
	goroutines int
	places     int   // that they are made in
	median     int64 // ns that they ran
	each       int64 // ns that one costs
}

// tooFine: so many goroutines are made for so little work each that making them, and
// waiting for them, costs a good part of the CPU time. Both are asked for, short work
// and what it costs: short goroutines that are rare cost nothing. Share is what they cost,
// of the CPU time that the program used; gain is what they cost of the cores that it used.
// Where no function makes so many, it may be all of them.
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

// makers are the functions that make goroutines whose whole life is known, in the order in
// which they are met.
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

// fine is the finding about goroutines with little work, which are made in so many places.
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
	f = Finding{Object: m.place(k.gs[0].site), Scopes: m.most(times, total(times)), Share: share, weight: weight, spared: weight, Confidence: 0.8}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, g := range k.gs {
			yield(g.from, g.to)
		}
	})
	f.facts = tooFineFacts{len(k.gs), places, k.median, goroutineCost + k.joins*joinCost/int64(len(k.gs))}
	return f, true
}
