package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/states"
)

// handing tells whether a goroutine in that state waits for another one's result.
func handing(s states.State) bool {
	return s == states.Channel || s == states.Select || s == states.Cond
}

// serializationLimits say from which numbers on Serialization is told.
var serializationLimits = struct{ one, work, handoffs, turns, inTurn, stake float64 }{
	one:      0.8, // of the time that exactly one runs
	work:     0.1, // of all that ran, that each of two workers at least did
	handoffs: 0.5, // of the changes of who runs, that the one before wakes the next
	turns:    0.2, // of the time that one runs, where those who hand on do all the same; ours
	inTurn:   0.8, // of what all work takes on all cores, that is done in turn; ours
	stake:    0.1, // of the time, that it would gain then if nobody waited for his turn; ours
}

// serialization: several goroutines have work, and one at a time does it: who runs wakes
// the next one. Share is the part of the time in which exactly one runs. The gain is
// unknown; how much is at stake is what a replay takes less in which none of them waits
// for another's result.
//
// Where it is a lock for which they wait, the rules for locks tell it.
func serialization(m *model) []Finding {
	s := m.sweep
	if len(s.hist) < 2 || m.cores.Count < 2 {
		return nil
	}
	one := m.one()
	if one < serializationLimits.turns {
		return nil
	}
	single := total(s.single)
	var top *gor
	for g, d := range s.single {
		if top == nil || d > s.single[top] {
			top = g
		}
	}
	if top == nil || float64(single-s.single[top]) < serializationLimits.work*float64(single) {
		return nil // one has all the work
	}
	handoffs, changes, locks, turns := 0, 0, 0, 0
	places := map[uint32]int64{}
	sites := map[uint32]string{}
	site := func(g *gor) string {
		p, ok := sites[g.site]
		if !ok {
			p = m.place(g.site)
			sites[g.site] = p
		}
		return p
	}
	for _, g := range m.gs {
		if g.role != roleUser {
			continue
		}
		for i := range g.ivs {
			v := &g.ivs[i]
			if !waits(v.state) {
				continue
			}
			changes++
			by := m.byID[v.by]
			if v.by == 0 || by == nil || by.role != roleUser {
				continue
			}
			if v.state == states.Lock || v.lock >= 0 {
				locks++
			} else if handing(v.state) {
				handoffs++
				places[v.stack] += v.to - v.from
				if g.created && by.created && site(g) == site(by) {
					turns++
				}
			}
		}
	}
	if float64(handoffs) < serializationLimits.handoffs*float64(changes) || handoffs <= locks {
		return nil
	}
	// Where goroutines that do the same take turns, what they do out of turn hides some of it.
	if one < serializationLimits.one && (float64(turns) < serializationLimits.handoffs*float64(changes) || 2*s.single[top] > single || m.inTurn() < serializationLimits.inTurn) {
		return nil
	}
	gain := 0.0
	if m.base != nil {
		gain = m.base.gain(without{lock: -1, skip: func(_ *script, s *step) bool { return s.kind != stepRun && handing(s.s) }})
	}
	f := Finding{Share: one, Gain: Unknown, weight: min(gain, one*(1-1/m.cores.Count)), Confidence: 0.85}
	if one < serializationLimits.one && f.weight < serializationLimits.stake {
		return nil
	}
	var where uint32
	for p, d := range places {
		if d > places[where] {
			where = p
		}
	}
	f.Object = m.place(where)
	times := map[uint16]int64{}
	for g := range s.single {
		m.aloneIn(g, times)
	}
	f.Scopes = m.most(times, single)
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		s.each(m.from, m.to, func(a, b int64, run, _ int) {
			if run == 1 {
				yield(a, b)
			}
		})
	})
	f.Goids = m.busiest(s.single, 3)
	at := ""
	if f.Object != "" {
		at = " at " + f.Object
	}
	f.Text = fmt.Sprintf("One goroutine at a time runs %s of the time, though %d have work: each waits for what the one before hands on%s, in %s.",
		analysis.Percent(one), len(s.single), at, quoted(f.Scopes))
	f.mend = m.parallelWork(f.Scopes, times, single)
	f.Evidence = []string{fmt.Sprintf("%s of %s waits ended because another goroutine handed something on; the busiest one did %s of what was done by one at a time",
		analysis.Thousands(int64(handoffs)), analysis.Thousands(int64(changes)), analysis.Percent(float64(s.single[top])/float64(single)))}
	return []Finding{f}
}

// inTurn is how long goroutines worked between being woken and waking another one, before
// they waited again, over what all work takes on all cores. Above 1 that alone is what the
// run takes, however the rest is done.
func (m *model) inTurn() float64 {
	woke := map[*gor][]int64{} // when each woke others
	var ran int64
	each := func(f func(g, by *gor, i int)) {
		for _, g := range m.gs {
			for i := range g.ivs {
				if by := m.byID[g.ivs[i].by]; g.role == roleUser && handing(g.ivs[i].state) && by != nil && by.role == roleUser {
					f(g, by, i)
				}
			}
		}
	}
	each(func(g, by *gor, i int) { woke[by] = append(woke[by], g.ivs[i].to) })
	for g := range woke {
		slices.Sort(woke[g])
	}
	var turns int64
	each(func(g, _ *gor, i int) {
		from := g.ivs[i].to
		n, _ := slices.BinarySearch(woke[g], from)
		if n == len(woke[g]) {
			return
		}
		to := woke[g][n]
		for i++; i < len(g.ivs) && g.ivs[i].from < to; i++ {
			if handing(g.ivs[i].state) {
				return // it was not its turn yet
			}
		}
		turns += g.onCPU(from, to)
	})
	for _, g := range m.gs {
		if g.role == roleUser {
			ran += g.onCPU(m.from, m.to)
		}
	}
	return float64(turns) * m.cores.Count / float64(max(ran, 1))
}

// parallelWork says what would have to run at once for a run of one at a time to become
// shorter. Whether it can is not in a trace: a decoder needs what it decoded before.
func (m *model) parallelWork(names []string, times map[uint16]int64, all int64) string {
	const rest = "; whether it can is not to be told from a trace: what needs the result of the one before can't begin earlier"
	if len(names) == 0 {
		return "For a shorter run, what they do would have to be done at once" + rest
	}
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s (%s)", analysis.Show(n), analysis.Percent(float64(times[m.id(n)])/float64(max(all, 1)))))
	}
	if len(parts) == 1 {
		return "For a shorter run, several of " + parts[0] + " would have to be done at once" + rest
	}
	return "For a shorter run, " + strings.Join(parts, ", ") + " would have to be done at once" + rest
}

// one is the part of the time in which exactly one goroutine runs. Where other programs
// take CPUs from this one that says little: two that run at once take twice as long then,
// and one who runs alone does not. So there it is of a replay in which nobody does.
func (m *model) one() float64 {
	var ran, taken int64
	for _, g := range m.gs {
		if g.role != roleUser {
			continue
		}
		for i := range g.ivs {
			if v := &g.ivs[i]; v.state == states.Preempted {
				taken += v.to - v.from
			} else if v.core {
				ran += v.to - v.from
			}
		}
	}
	if m.base == nil || 20*taken < ran {
		return m.sweep.share(m.sweep.hist[1])
	}
	t, one := m.base.play(without{lock: -1, skip: func(_ *script, s *step) bool { return s.kind == stepRun && s.s == states.Preempted }}, nil)
	return float64(one) / float64(max(t, 1))
}

// aloneIn adds to times in which scopes g was while it was the only one to run.
func (m *model) aloneIn(g *gor, times map[uint16]int64) {
	for i := range g.ivs {
		if v := &g.ivs[i]; v.core {
			m.sweep.each(v.from, v.to, func(a, b int64, run, _ int) {
				if run == 1 {
					g.scopesIn(a, b, times)
				}
			})
		}
	}
}

// busiest are the goroutines with the most time.
func (m *model) busiest(times map[*gor]int64, n int) (ids []uint64) {
	var gs []*gor
	for g := range times {
		gs = append(gs, g)
	}
	slices.SortFunc(gs, func(a, b *gor) int {
		if times[a] != times[b] {
			if times[a] > times[b] {
				return -1
			}
			return 1
		}
		return int(int64(a.id) - int64(b.id))
	})
	for _, g := range gs[:min(len(gs), n)] {
		ids = append(ids, g.id)
	}
	return ids
}

// notEnoughParallelismLimits say from which numbers on NotEnoughParallelism is told.
var notEnoughParallelismLimits = struct{ alone, parallel, same, busy, served float64 }{
	alone:    0.2, // of the time that the same goroutine runs alone and nobody waits for it to unlock or send; ours
	parallel: 0.1, // of the time that more run, else nobody meant it to be parallel; ours
	same:     0.8, // of the time alone, that it is the same; ours
	busy:     0.9, // of the time, that the slowest stage of a pipeline has work; ours
	served:   0.5, // of the time that it runs alone, that somebody waits for what it does; ours
}

// notEnoughParallelism: one goroutine works alone, while nobody has anything else to do.
// Share is the part of the time in which it does, gain what is left of that on all cores
// (Amdahl's law): share × (1 − 1/C).
func notEnoughParallelism(m *model) []Finding {
	s := m.sweep
	var more, alone int64
	for n, d := range s.hist {
		if n >= 2 {
			more += d
		}
	}
	var top *gor
	for g, d := range s.alone {
		alone += d
		if top == nil || d > s.alone[top] {
			top = g
		}
	}
	if m.cores.Count < 2 || s.share(more) < notEnoughParallelismLimits.parallel {
		return nil
	}
	if top == nil || s.share(s.alone[top]) < notEnoughParallelismLimits.alone || float64(s.alone[top]) < notEnoughParallelismLimits.same*float64(alone) {
		return m.bottleneck()
	}
	share := s.share(s.alone[top])
	times := map[uint16]int64{}
	m.aloneIn(top, times)
	f := Finding{Scopes: m.most(times, s.alone[top]), Share: share, weight: share * (1 - 1/m.cores.Count), Confidence: 0.8, Goids: []uint64{top.id}}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for i := range top.ivs {
			if v := &top.ivs[i]; v.core {
				s.each(v.from, v.to, func(a, b int64, run, _ int) {
					if run == 1 {
						yield(a, b)
					}
				})
			}
		}
	})
	f.Text = fmt.Sprintf("%s runs alone %s of the time, in %s, while there is nothing to do for the other cores.",
		m.who(top), analysis.Percent(share), quoted(f.Scopes))
	f.mend = "Done by all " + cores(m)
	f.Evidence = []string{fmt.Sprintf("%s of the time two or more goroutines ran; %s of the time exactly one did", analysis.Percent(s.share(more)), analysis.Percent(s.share(s.hist[1])))}
	return []Finding{f}
}

// bottleneck is a goroutine that hardly ever waits, and that the others wait for to get
// something from it or to be rid of something: the slowest stage of a pipeline. Share is
// the part of the time in which it alone runs. Nobody can tell from a trace whether
// several can do what it does, so the gain is unknown; at stake is what Amdahl's law says.
func (m *model) bottleneck() []Finding {
	s := m.sweep
	single := total(s.single)
	var top *gor
	for g, d := range s.single {
		if top == nil || d > s.single[top] || d == s.single[top] && g.id < top.id {
			top = g
		}
	}
	if top == nil || s.share(s.single[top]) < notEnoughParallelismLimits.alone || float64(s.single[top]) < notEnoughParallelismLimits.same*float64(single) || m.one() < notEnoughParallelismLimits.alone {
		return nil
	}
	busy := top.sum(m.from, m.to, func(v *iv) bool { return v.core || v.state == states.Runnable || v.state == states.Preempted })
	if float64(busy) < notEnoughParallelismLimits.busy*float64(m.span()) {
		return nil
	}
	// Who waits for it, and where, at the moments in which it alone runs.
	var line []turn
	places := map[uint32]int64{}
	for _, g := range m.gs {
		if g.role != roleUser || g == top {
			continue
		}
		for i := range g.ivs {
			if v := &g.ivs[i]; handing(v.state) && v.by == top.id {
				line = append(line, turn{g: g, from: v.from, to: v.to})
				places[v.stack] += v.to - v.from
			}
		}
	}
	waited := newWaitLine(line)
	var served int64
	for i := range top.ivs {
		if v := &top.ivs[i]; v.core {
			s.each(v.from, v.to, func(a, b int64, run, _ int) {
				if run == 1 {
					served += waited.waited(a, b)
				}
			})
		}
	}
	if float64(served) < notEnoughParallelismLimits.served*float64(s.single[top]) {
		return nil
	}
	var where uint32
	for p, d := range places {
		if d > places[where] || d == places[where] && p < where {
			where = p
		}
	}
	share := s.share(s.single[top])
	times := map[uint16]int64{}
	m.aloneIn(top, times)
	f := Finding{Object: m.place(where), Scopes: m.most(times, s.single[top]), Share: share, Gain: Unknown, weight: share * (1 - 1/m.cores.Count), Confidence: 0.8, Goids: []uint64{top.id}}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, w := range line {
			yield(w.from, w.to)
		}
	})
	made := ""
	if p := m.place(top.site); p != "" {
		made = ", made in " + p + ","
	}
	in := ""
	if len(f.Scopes) > 0 {
		in = ", in " + quoted(f.Scopes)
	}
	f.Text = fmt.Sprintf("%s%s has work all the time and runs alone %s of it%s: the others wait for it in %s.",
		m.who(top), made, analysis.Percent(share), in, orPlace(f.Object))
	f.mend = m.parallelWork(f.Scopes, times, s.single[top])
	f.Evidence = []string{fmt.Sprintf("%s of the time others have a channel or a Cond to wait at until it goes on, while it alone runs; it waits %s of the time itself",
		analysis.Percent(s.share(served)), analysis.Percent(1-float64(busy)/float64(m.span())))}
	return []Finding{f}
}

// who is a goroutine as a sentence has it.
func (m *model) who(g *gor) string {
	switch {
	case g.track != "":
		return "The goroutine " + analysis.Show(g.track)
	case g.id == 1:
		return "The main goroutine"
	}
	return fmt.Sprintf("Goroutine %d", g.id)
}

// group is goroutines that one goroutine made in one place and waited for together.
type group struct {
	parent   *gor
	place    string // of the go statement, from wherever its function was called
	from, to int64
	gs       []*gor
}

// groups finds forks and joins: waits in a WaitGroup, and who was made by who waits and
// has ended by then.
func (m *model) groups() (list []group) {
	type key struct {
		parent uint64
		place  string
	}
	kids := map[key][]*gor{}
	places := map[uint32]string{}
	var keys []key
	for _, g := range m.gs {
		if g.role == roleUser && g.created && g.ended && len(g.ivs) > 0 {
			place, ok := places[g.site]
			if !ok {
				place = m.place(g.site)
				places[g.site] = place
			}
			k := key{g.creator, place}
			if kids[k] == nil {
				keys = append(keys, k)
			}
			kids[k] = append(kids[k], g)
		}
	}
	for _, k := range keys {
		p := m.byID[k.parent]
		if p == nil {
			continue
		}
		gs := kids[k] // by id, and so by when they were made, nearly
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
			g := group{p, k.place, v.to, v.to, gs[:n]}
			gs = gs[n:]
			g.gs = lastRound(g.gs)
			// Those that go on are not waited for. Who is done may be off its CPU for long before
			// it ends.
			if len(g.gs) >= 2 && !slices.ContainsFunc(g.gs, func(x *gor) bool { return x.to > v.to+1e6 && x.onCPU(v.to, x.to) > 1e6 }) {
				g.from = g.gs[0].from
				list = append(list, g)
			}
		}
	}
	return list
}

// lastRound are the goroutines, which are in the order of their beginnings, from the last
// one that began when all before it had ended. Those before it were waited for in a way that
// leaves no wait, as they were done by then, and have nothing to do with it.
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

// loadImbalanceLimits say from which numbers on LoadImbalance is told.
var loadImbalanceLimits = struct{ imbalance float64 }{
	imbalance: 0.2, // longest over mean, less one
}

// loadImbalance: of goroutines that are waited for together some are done long before
// the others. Where as many as there are cores are left there is no loss, so what counts
// is the cores with nothing to do from when fewer are left. Share is the part of the
// groups' time that this is, which for as many goroutines as cores is (longest − mean) /
// longest; gain is the same of the run's.
func loadImbalance(m *model) (fs []Finding) {
	type sum struct {
		wall, saved float64
		groups      []group
	}
	by := map[string]*sum{}
	var places []string
	for _, g := range m.groups() {
		x := by[g.place]
		if x == nil {
			x = &sum{}
			by[g.place] = x
			places = append(places, g.place)
		}
		x.groups = append(x.groups, g)
		x.wall += float64(g.to - g.from)
		x.saved += m.tail(&g)
	}
	for _, place := range places {
		x := by[place]
		share := min(x.saved/max(x.wall, 1), uneven(x.groups, m.cores.Count))
		if share/(1-min(share, 0.999)) < loadImbalanceLimits.imbalance {
			continue
		}
		f := Finding{Object: place, Share: share, weight: share * x.wall / float64(m.span()), Confidence: 0.85}
		worst := x.groups[0]
		times := map[uint16]int64{}
		for _, g := range x.groups {
			if m.tail(&g) > m.tail(&worst) {
				worst = g
			}
			for _, k := range g.gs {
				k.scopesIn(k.from, k.to, times)
			}
		}
		f.Scopes = m.most(times, total(times))
		f.FromNS, f.ToNS = worst.from, worst.to
		var longest, ran int64
		for _, k := range worst.gs {
			d := k.ran(k.from, k.to)
			longest, ran = max(longest, d), ran+d
			if len(f.Goids) < 3 {
				f.Goids = append(f.Goids, k.id)
			}
		}
		at := f.Object
		if at == "" {
			at = "one place"
		}
		f.Text = fmt.Sprintf("The goroutines made in %s have unequal work: %s of their time cores have nothing to do because some are done and the others are not, in %s.",
			at, analysis.Percent(share), quoted(f.Scopes))
		f.mend = "Evenly shared out"
		f.Evidence = []string{fmt.Sprintf("%s of %s are waited for together; in the worst one the longest ran for %s, the mean for %s",
			analysis.Plural(int64(len(x.groups)), "group"), analysis.Plural(int64(len(worst.gs)), "goroutine"), analysis.Humane(longest), analysis.Humane(ran/int64(len(worst.gs))))}
		fs = append(fs, f)
	}
	return fs
}

// uneven is (longest − mean) / longest of the time on CPUs in groups of no more goroutines
// than cores, 1 where there are more: what one of them had to wait for a CPU that another
// program had is no work.
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

// tail is how much shorter a group would be if its members were done at once.
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
			if run >= 1 { // else they wait for something, and it is not work that is shared badly
				saved += max(min(width-left, m.cores.Count-float64(run)), 0) / width * float64(b-a)
			}
		})
	}
	return saved
}
