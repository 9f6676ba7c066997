package doctor

import (
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// handing reports whether a goroutine in state s waits for the result of another one.
func handing(s states.State) bool {
	return s == states.Channel || s == states.Select || s == states.Cond
}

// serializationLimits are the thresholds of serialization.
var serializationLimits = struct{ one, work, handoffs, turns, inTurn, stake float64 }{
	one:      0.8, // of the time: exactly one goroutine runs
	work:     0.1, // of all running time: each of at least two workers
	handoffs: 0.5, // of all waits: the running goroutine wakes the next
	turns:    0.2, // of the time: one runs, where the workers all do the same; ours
	inTurn:   0.8, // of the time that all work takes on all cores: work done in turn; ours
	stake:    0.1, // of the time: the gain then, if nobody waited for its turn; ours
}

// serializationFacts describes goroutines that run one at a time.
type serializationFacts struct {
	workers           int
	handoffs, changes int
	busiest           float64 // the busiest goroutine's part of what was done by one at a time
	work              []scopeShare
}

// serialization: several goroutines have work, but only one runs at a time, and wakes the
// next one. Share is the part of the time in which exactly one runs. The gain is unknown; at
// stake is the reduction in a replay in which none of them waits for another's result.
//
// If they wait for a lock, the rules for locks report it.
func (m *model) serialization() []Finding {
	s, limits := m.sweep, &serializationLimits
	if len(s.hist) < 2 || m.cores.Count < 2 {
		return nil
	}
	one := m.one()
	if one < limits.turns {
		return nil
	}
	single, top := total(s.single), longestOf(s.single)
	if top == nil || float64(single-s.single[top]) < limits.work*float64(single) {
		return nil // one goroutine has all the work
	}
	h := m.handoffs()
	if !enough(h.handoffs, h.changes) || h.handoffs <= h.locks {
		return nil
	}
	// Where goroutines that do the same take turns, their work out of turn hides some of it.
	if one < limits.one && (2*s.single[top] > single || !m.takeTurns(h)) {
		return nil
	}
	gain := m.base.gain(removal{skip: func(_ *script, s *step) bool { return s.kind != stepRun && handing(s.s) }})
	f := Finding{Share: one, Gain: unknownGain, weight: min(gain, one*(1-1/m.cores.Count)), Confidence: 0.85}
	if one < limits.one && f.weight < limits.stake {
		return nil
	}
	f.Object = m.place(longest(h.places))
	times := map[uint16]int64{}
	for g := range s.single {
		m.aloneIn(g, times)
	}
	f.Scopes = m.most(times, single)
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) { s.alones(m.from, m.to, yield) })
	f.Goids = busiest(s.single, 3)
	f.facts = serializationFacts{len(s.single), h.handoffs, h.changes, float64(s.single[top]) / float64(single), m.shares(f.Scopes, times, single)}
	return []Finding{f}
}

// enough reports whether n of the waits are so many that each running goroutine wakes the
// next.
func enough(n, changes int) bool { return float64(n) >= serializationLimits.handoffs*float64(changes) }

// takeTurns reports whether goroutines that do the same do nearly all their work in turn.
func (m *model) takeTurns(h handoffs) bool {
	return enough(h.turns, h.changes) && m.inTurn() >= serializationLimits.inTurn
}

// handoffs counts the program's waits by what ended them.
type handoffs struct {
	changes  int              // all waits
	locks    int              // ended by the release of a lock
	handoffs int              // ended by a send or a signal
	turns    int              // of handoffs: by a goroutine that was started in the same place
	places   map[uint32]int64 // ns of handoffs, by stack
}

func (m *model) handoffs() handoffs {
	h := handoffs{places: map[uint32]int64{}}
	sites := map[uint32]string{}
	site := func(g *gor) string {
		p, ok := sites[g.site]
		if !ok {
			p = m.place(g.site)
			sites[g.site] = p
		}
		return p
	}
	for g, v := range m.did() {
		if !waits(v.state) {
			continue
		}
		h.changes++
		by := m.byID[v.by]
		if v.by == 0 || by == nil || by.role != roleUser {
			continue
		}
		if v.state == states.Lock || v.lock >= 0 {
			h.locks++
		} else if handing(v.state) {
			h.handoffs++
			h.places[v.stack] += v.to - v.from
			if g.created && by.created && site(g) == site(by) {
				h.turns++
			}
		}
	}
	return h
}

// inTurn returns the time that goroutines worked between being woken and waking another one,
// before they waited again, over the time of all work on all cores. Above 1 it alone
// determines the time of the run, however the rest is done.
func (m *model) inTurn() float64 {
	woke := map[*gor][]int64{} // times at which each woke others
	each := func(f func(g, by *gor, i int)) {
		for g := range m.users() {
			for i := range g.ivs {
				if by := m.byID[g.ivs[i].by]; handing(g.ivs[i].state) && by != nil && by.role == roleUser {
					f(g, by, i)
				}
			}
		}
	}
	each(func(g, by *gor, i int) { woke[by] = append(woke[by], g.ivs[i].to) })
	for g := range woke {
		slices.Sort(woke[g])
	}
	var turns, ran int64
	each(func(g, _ *gor, i int) {
		from := g.ivs[i].to
		n, _ := slices.BinarySearch(woke[g], from)
		if n == len(woke[g]) {
			return
		}
		to := woke[g][n]
		for i++; i < len(g.ivs) && g.ivs[i].from < to; i++ {
			if handing(g.ivs[i].state) {
				return // not its turn yet
			}
		}
		turns += g.onCPU(from, to)
	})
	for g := range m.users() {
		ran += g.onCPU(m.from, m.to)
	}
	return float64(turns) * m.cores.Count / float64(max(ran, 1))
}

// scopeShare is a scope and its share.
type scopeShare struct {
	name  string
	share float64
}

func (m *model) shares(names []string, times map[uint16]int64, all int64) (list []scopeShare) {
	for _, n := range names {
		list = append(list, scopeShare{n, float64(times[m.id(n)]) / float64(max(all, 1))})
	}
	return list
}

// one returns the part of the time in which exactly one goroutine runs. If other programs
// take CPUs, that says little: two goroutines that run at once then take twice as long, and
// one that runs alone does not. So the part is taken from a replay, in which no other
// program does.
func (m *model) one() float64 {
	var ran, taken int64
	for _, v := range m.did() {
		if v.state == states.Preempted {
			taken += v.to - v.from
		} else if v.core {
			ran += v.to - v.from
		}
	}
	if m.base == nil || 20*taken < ran {
		return m.sweep.share(m.sweep.hist[1])
	}
	t, one := m.base.play(removal{skip: func(_ *script, s *step) bool { return s.kind == stepRun && s.s == states.Preempted }}, nil)
	return float64(one) / float64(max(t, 1))
}

// alone calls f with the stretches in which g has a core and one goroutine runs.
func (m *model) alone(g *gor, f func(from, to int64)) {
	for i := range g.ivs {
		if v := &g.ivs[i]; v.core {
			m.sweep.alones(v.from, v.to, f)
		}
	}
}

// aloneIn adds to times the scopes of g while it alone ran.
func (m *model) aloneIn(g *gor, times map[uint16]int64) {
	m.alone(g, func(a, b int64) { g.scopesIn(a, b, times) })
}

// busiest returns the n goroutines with the most time.
func busiest(times map[*gor]int64, n int) (ids []uint64) {
	for _, g := range byTime(times)[:min(len(times), n)] {
		ids = append(ids, g.id)
	}
	return ids
}
