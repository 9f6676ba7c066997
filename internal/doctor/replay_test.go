package doctor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
)

// TestReplayReproduces: with nothing removed, a replay takes as long as the program did.
func TestReplayReproduces(t *testing.T) {
	programs := map[string]func(p *proc){}
	for name, f := range healthy {
		programs[name] = f
	}
	for _, x := range examples {
		programs[string(x.verdict)] = x.program(0.75)
	}
	for name, f := range programs {
		w := play(2, f)
		w.m.look()
		r := w.m.plan()
		if r == nil {
			t.Errorf("%s: no replay", name)
			continue
		}
		if off := float64(r.time)/float64(w.now) - 1; math.Abs(off) > 0.02 {
			t.Errorf("%s: took %d, replayed %d, off by %.1f %%", name, w.now, r.time, 100*off)
		}
	}
}

// TestWhatIf compares replays with programs in which a scope costs nothing, or with more
// cores.
func TestWhatIf(t *testing.T) {
	program := func(read, merge int64) func(p *proc) {
		return func(p *proc) {
			for range 10 {
				p.parallel(4, func(p *proc, i int) { p.scope("read", func() { p.run(read + int64(i)*100*us) }) })
				p.scope("merge", func() { p.run(merge) })
			}
		}
	}
	w := play(2, program(2*ms, 3*ms))
	r := w.examine()
	if len(r.CriticalPath) == 0 || r.CriticalPath[0].Of != "" {
		t.Fatalf("%+v", r.CriticalPath)
	}
	p := r.CriticalPath[0]
	sum := int64(0)
	for _, x := range p.Parts {
		sum += x.Time
	}
	if sum != p.Time || p.Time != w.now {
		t.Errorf("the path's parts take %d of %d, and the run %d", sum, p.Time, w.now)
	}
	if p.WhatIf[0].Name != "read" && p.WhatIf[0].Name != "merge" || len(p.WhatIf) != 2 {
		t.Fatalf("%+v", p.WhatIf)
	}
	for _, x := range p.WhatIf {
		free := program(2*ms, 0)
		if x.Name == "read" {
			free = func(p *proc) {
				for range 10 {
					p.scope("merge", func() { p.run(3 * ms) })
				}
			}
		}
		if truth := 1 - play(2, free).time()/w.time(); math.Abs(x.Gain-truth) > 0.01 {
			t.Errorf("if %s were free: %.3f, and it is %.3f", x.Name, x.Gain, truth)
		}
	}
	if got, want := w.m.base.do(removal{cores: 4}), play(4, program(2*ms, 3*ms)).now; got != want {
		t.Errorf("on four cores %d, want %d", got, want)
	}
}

// TestCriticalPathOfATask: the path follows the goroutine that was waited for.
func TestCriticalPathOfATask(t *testing.T) {
	w := play(2, func(p *proc) {
		c := &pipe{room: 1}
		p.parallel(2, func(p *proc, i int) {
			for range 20 {
				if i == 0 {
					p.scope("make", func() { p.run(3 * ms) })
					p.put(c)
				} else {
					p.scope("order", func() {
						p.get(c)
						p.scope("pay", func() { p.run(1 * ms) })
					})
				}
			}
		})
	})
	for _, p := range w.examine().CriticalPath {
		if p.Of != "order" {
			continue
		}
		if p.Count != 20 || p.Parts[0].Name != "make" || p.Parts[0].State != "cpu" || p.Parts[0].Share < 0.6 || len(p.WhatIf) != 2 || p.WhatIf[0].Name != "make" {
			t.Errorf("%+v", p)
		}
		return
	}
	t.Error("order has no path")
}

// TestNonsenseIsBorne: any model gives a report, and soon.
func TestNonsenseIsBorne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		m := newModel(0, 1000, func(id uint16) string { return string(rune('a' + id%26)) })
		m.cores, m.procs, m.hasGo = Cores{Count: float64(1+rng.IntN(4)) / 2}, rng.Int64N(5), true
		m.beats = beats{over: rng.Int64N(1000), user: rng.Int64N(100), system: rng.Int64N(100), minor: rng.Int64N(1 << 40)}
		m.locks = []*lock{{name: "l", acquired: rng.Int64N(100) - 1}}
		for id := range uint64(1 + rng.IntN(5)) {
			g := m.g(id)
			g.creator, g.created, g.ended = rng.Uint64N(6), rng.IntN(2) == 0, rng.IntN(2) == 0
			g.role = role(rng.IntN(4))
			at := rng.Int64N(200)
			for at < 1000 {
				end := min(at+1+rng.Int64N(100), 1000)
				v := iv{from: at, to: end, by: rng.Uint64N(6), lock: -1, state: states.State(rng.IntN(int(states.Count)))}
				v.core, v.send, v.yield = running(v.state), rng.IntN(2) == 0, rng.IntN(2) == 0
				g.ivs = append(g.ivs, v)
				at = end + rng.Int64N(2)*rng.Int64N(50)
			}
			for range rng.IntN(20) {
				from := rng.Int64N(999)
				g.spans = append(g.spans, span{from: from, to: from + rng.Int64N(1000-from) + 1, cpu: rng.Int64N(100) - 2, name: uint16(rng.IntN(5))})
			}
			slices.SortFunc(g.spans, func(a, b span) int { return int(a.from - b.from) })
			for range rng.IntN(10) {
				from := rng.Int64N(999)
				d := turn{g: g, from: from, to: from + 1 + rng.Int64N(1000-from), holder: rng.Uint64N(6)}
				if rng.IntN(2) == 0 {
					m.locks[0].waits = append(m.locks[0].waits, d)
				} else {
					m.locks[0].holds = append(m.locks[0].holds, d)
				}
			}
			m.samples = append(m.samples, sample{g: g, polls: true, place: "p"})
		}
		m.finish()
		r := m.report()
		for _, f := range r.Findings {
			if !(f.Share >= 0 && f.Share <= 1 && (f.Gain == unknownGain || f.Gain >= 0 && f.Gain <= 1) && f.Confidence >= 0 && f.Confidence <= 1) {
				t.Fatalf("%+v", f)
			}
		}
	}
}

// TestWhoWaitsNoMoreLetsOthersRun: three goroutines send, and a fourth one processes what
// the third sends. In a replay without their waits the first two must not do all their work
// before the third begins: they share the cores as they did.
func TestWhoWaitsNoMoreLetsOthersRun(t *testing.T) {
	const n = 100
	r := &replayed{cores: 2, last: 3, edges: n}
	for i := range 3 {
		sc := script{g: &gor{}, begin: -1}
		for k := range int32(n) {
			sc.steps = append(sc.steps, step{kind: stepRun, ns: ms, lock: -1})
			if i == 2 {
				sc.steps = append(sc.steps, step{kind: stepWake, edge: k, lock: -1})
			}
			sc.steps = append(sc.steps, step{kind: stepDelay, ns: 5 * ms, lock: -1, s: states.Channel, send: true})
		}
		r.scripts = append(r.scripts, sc)
	}
	sc := script{g: &gor{}, begin: -1}
	for k := range int32(n) {
		sc.steps = append(sc.steps, step{kind: stepWait, edge: k, lock: -1}, step{kind: stepRun, ns: 3 * ms, lock: -1})
	}
	r.scripts = append(r.scripts, sc)
	without := r.do(removal{skip: func(_ *script, s *step) bool { return s.send }})
	if least := int64(3 * n * ms); without < least || without > least+least/10 {
		t.Errorf("it takes %d ms, and the last one works for %d", without/ms, least/ms)
	}
}
