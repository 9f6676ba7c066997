package doctor

import (
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// group is the goroutines that one goroutine started in one place and waited for together.
type group struct {
	parent   *gor
	place    string // place of the go statement; the callers of its function don't matter
	from, to int64
	gs       []*gor
}

// groups finds forks and joins: waits in a WaitGroup, with the goroutines that the waiter
// started and that have ended by then.
func (m *model) groups() (list []group) {
	keys, kids := m.kids()
	for _, k := range keys {
		p := m.byID[k.parent]
		if p == nil {
			continue
		}
		gs := kids[k] // by id, and so roughly by creation
		slices.SortStableFunc(gs, func(a, b *gor) int {
			if a.from < b.from {
				return -1
			}
			return 1
		})
		for i := range p.ivs {
			v := &p.ivs[i]
			if v.state != states.Join {
				continue
			}
			n := 0
			for n < len(gs) && gs[n].from < v.to {
				n++
			}
			g := group{p, k.place, v.to, v.to, lastRound(gs[:n])}
			gs = gs[n:]
			// Goroutines that continue were not waited for. One that is done may be off its CPU
			// for long before it ends.
			if len(g.gs) >= 2 && !slices.ContainsFunc(g.gs, func(x *gor) bool { return x.to > v.to+1e6 && x.onCPU(v.to, x.to) > 1e6 }) {
				g.from = g.gs[0].from
				list = append(list, g)
			}
		}
	}
	return list
}

// madeBy is the creator of goroutines, and the place of the go statement.
type madeBy struct {
	parent uint64
	place  string
}

// kids returns the goroutines whose whole life is recorded, by their creator and place; keys
// are these, in the order of their first goroutine.
func (m *model) kids() (keys []madeBy, kids map[madeBy][]*gor) {
	kids = map[madeBy][]*gor{}
	places := map[uint32]string{}
	for g := range m.users() {
		if !g.created || !g.ended || len(g.ivs) == 0 {
			continue
		}
		place, ok := places[g.site]
		if !ok {
			place = m.place(g.site)
			places[g.site] = place
		}
		k := madeBy{g.creator, place}
		if kids[k] == nil {
			keys = append(keys, k)
		}
		kids[k] = append(kids[k], g)
	}
	return keys, kids
}

// lastRound returns the goroutines from the last one that began when all before it had
// ended. gs is sorted by begin. Earlier ones belong to an earlier round, whose wait left no
// record because they had ended by then.
func lastRound(gs []*gor) []*gor {
	first, end := 0, int64(0)
	for i, g := range gs {
		if i > 0 && g.from >= end {
			first = i
		}
		end = max(end, g.to)
	}
	return gs[first:]
}

// loadImbalanceLimits are the thresholds of loadImbalance.
var loadImbalanceLimits = struct{ imbalance float64 }{
	imbalance: 0.2, // longest over mean, minus one
}

// imbalanceFacts describes groups whose members have unequal work.
type imbalanceFacts struct {
	groups        int
	members       int   // of the worst group
	longest, mean int64 // ns that members of the worst group ran
}

// loadImbalance: of goroutines that are waited for together, some are done long before the
// others. As long as there are as many goroutines as cores nothing is lost, so the rule
// counts the idle cores from when fewer are left. Share is that loss as a part of the
// groups' time; for as many goroutines as cores it is (longest − mean) / longest. Gain is
// the loss as a part of the run's time.
func (m *model) loadImbalance() (fs []Finding) {
	by := map[string][]group{}
	var places []string
	for _, g := range m.groups() {
		if by[g.place] == nil {
			places = append(places, g.place)
		}
		by[g.place] = append(by[g.place], g)
	}
	for _, place := range places {
		if f, ok := m.imbalance(place, by[place]); ok {
			fs = append(fs, f)
		}
	}
	return fs
}

// imbalance returns the finding about the groups that were started in a place.
func (m *model) imbalance(place string, groups []group) (f Finding, ok bool) {
	var wall, saved, most float64
	worst := &groups[0]
	for i := range groups {
		g := &groups[i]
		tail := m.tail(g)
		wall += float64(g.to - g.from)
		saved += tail
		if i == 0 || tail > most {
			worst, most = g, tail
		}
	}
	share := min(saved/max(wall, 1), uneven(groups, m.cores.Count))
	if share/(1-min(share, 0.999)) < loadImbalanceLimits.imbalance {
		return f, false
	}
	times := map[uint16]int64{}
	for _, g := range groups {
		for _, k := range g.gs {
			k.scopesIn(k.from, k.to, times)
		}
	}
	f = Finding{Object: place, Scopes: m.most(times, total(times)), Share: share, weight: share * wall / float64(m.span()), Confidence: 0.85, FromNS: worst.from, ToNS: worst.to}
	var longest, ran int64
	for _, k := range worst.gs {
		d := k.ran(k.from, k.to)
		longest, ran = max(longest, d), ran+d
		if len(f.Goids) < 3 {
			f.Goids = append(f.Goids, k.id)
		}
	}
	f.facts = imbalanceFacts{len(groups), len(worst.gs), longest, ran / int64(len(worst.gs))}
	return f, true
}

// uneven returns (longest − mean) / longest of the time on CPUs in groups of at most as many
// goroutines as cores, or 1 where one has more. A wait for a CPU that another program had is
// not work.
func uneven(groups []group, cores float64) float64 {
	var longest, off float64
	for _, g := range groups {
		if float64(len(g.gs)) > cores {
			return 1
		}
		var most, sum int64
		for _, x := range g.gs {
			d := x.onCPU(x.from, x.to)
			most, sum = max(most, d), sum+d
		}
		longest += float64(most)
		off += float64(most) - float64(sum)/float64(len(g.gs))
	}
	return off / max(longest, 1)
}

// tail returns the ns by which a group would be shorter if its members ended together.
func (m *model) tail(g *group) (saved float64) {
	width := min(float64(len(g.gs)), m.cores.Count)
	ends := make([]int64, len(g.gs))
	for i, x := range g.gs {
		ends[i] = x.to
	}
	slices.Sort(ends)
	for i, from := range ends {
		to := g.to
		if i+1 < len(ends) {
			to = ends[i+1]
		}
		left := float64(len(ends) - i - 1)
		if left >= width || left == 0 {
			continue
		}
		m.sweep.each(from, to, func(a, b int64, run, _ int) {
			if run >= 1 { // if none runs, they wait for something, and the work is not shared badly
				saved += max(min(width-left, m.cores.Count-float64(run)), 0) / width * float64(b-a)
			}
		})
	}
	return saved
}
