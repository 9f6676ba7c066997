package doctor

import (
	"github.com/scopeview/scopeview/internal/states"
)

// notEnoughParallelismLimits are the thresholds of notEnoughParallelism.
var notEnoughParallelismLimits = struct{ alone, parallel, same, busy, served float64 }{
	alone:    0.2, // of the time: the same goroutine runs alone and nobody waits for it to unlock or send; ours
	parallel: 0.1, // of the time: more than one run, otherwise the program is not meant to be parallel; ours
	same:     0.8, // of the time alone: it is the same goroutine; ours
	busy:     0.9, // of the time: the slowest stage of a pipeline has work; ours
	served:   0.5, // of the time that it runs alone: others wait for it; ours
}

// aloneFacts describes a goroutine that runs alone.
type aloneFacts struct {
	g    *gor
	more float64 // part of the time that two or more ran
	one  float64 // part of the time that exactly one ran
}

// notEnoughParallelism: one goroutine works alone, and the others have nothing to do. Share
// is the part of the time in which it does. Gain is the part of it that all cores would save
// (Amdahl's law): share × (1 − 1/C).
func (m *model) notEnoughParallelism() []Finding {
	s := m.sweep
	var more int64
	for n, d := range s.hist {
		if n >= 2 {
			more += d
		}
	}
	if m.cores.Count < 2 || s.share(more) < notEnoughParallelismLimits.parallel {
		return nil
	}
	top := m.soloist(s.alone)
	if top == nil {
		return m.bottleneck()
	}
	f, _ := m.solo(top, s.alone[top])
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) { m.alone(top, yield) })
	f.facts = aloneFacts{top, s.share(more), s.share(s.hist[1])}
	return []Finding{f}
}

// soloist returns the goroutine with the most of times, if that reaches the limits;
// otherwise nil.
func (m *model) soloist(times map[*gor]int64) *gor {
	limits := &notEnoughParallelismLimits
	top := longestOf(times)
	if top == nil || m.sweep.share(times[top]) < limits.alone || float64(times[top]) < limits.same*float64(total(times)) {
		return nil
	}
	return top
}

// solo returns the common part of findings about a goroutine that runs alone for ns, and the
// scopes that it is in meanwhile.
func (m *model) solo(g *gor, ns int64) (f Finding, times map[uint16]int64) {
	times = map[uint16]int64{}
	m.aloneIn(g, times)
	share := m.sweep.share(ns)
	return Finding{Scopes: m.most(times, ns), Share: share, weight: share * (1 - 1/m.cores.Count), Confidence: 0.8, Goids: []uint64{g.id}}, times
}

// bottleneckFacts describes a goroutine that the others wait for.
type bottleneckFacts struct {
	g      *gor
	made   string  // place of its go statement; "": not known
	served float64 // part of the time that it runs alone in which others wait for it
	waits  float64 // part of the time that it waits
	work   []scopeShare
}

// bottleneck finds the slowest stage of a pipeline: a goroutine that hardly ever waits, and
// that the others wait for to receive from it or to send to it. Share is the part of the
// time in which it alone runs. A trace can't show whether several goroutines could do its
// work, so the gain is unknown; at stake is the time by Amdahl's law.
func (m *model) bottleneck() []Finding {
	s, limits := m.sweep, &notEnoughParallelismLimits
	top := m.soloist(s.single)
	if top == nil || m.one() < limits.alone {
		return nil
	}
	busy := top.sum(m.from, m.to, func(v *iv) bool { return v.core || v.state == states.Runnable || v.state == states.Preempted })
	if float64(busy) < limits.busy*float64(m.span()) {
		return nil
	}
	// The goroutines that wait for it, and where, while it alone runs.
	var line []turn
	places := map[uint32]int64{}
	for g, v := range m.did() {
		if g != top && handing(v.state) && v.by == top.id {
			line = append(line, turn{g: g, from: v.from, to: v.to})
			places[v.stack] += v.to - v.from
		}
	}
	waited := newWaitLine(line)
	var served int64
	m.alone(top, func(a, b int64) { served += waited.waited(a, b) })
	if float64(served) < limits.served*float64(s.single[top]) {
		return nil
	}
	f, times := m.solo(top, s.single[top])
	f.Object, f.Gain = m.place(longest(places)), unknownGain
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, w := range line {
			yield(w.from, w.to)
		}
	})
	f.facts = bottleneckFacts{top, m.place(top.site), s.share(served), 1 - float64(busy)/float64(m.span()), m.shares(f.Scopes, times, s.single[top])}
	return []Finding{f}
}
