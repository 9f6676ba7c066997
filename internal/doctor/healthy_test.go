package doctor

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// healthy are programs that have a little of each problem, but no finding: a false finding
// is worse than a missing one.
var healthy = map[string]func(p *proc){
	"one goroutine": func(p *proc) {
		for range 50 {
			p.scope("work", func() { p.run(1 * ms) })
		}
	},
	"one worker, fed through a channel": func(p *proc) {
		c := &pipe{}
		p.parallel(2, func(p *proc, i int) {
			for range 200 {
				if i == 0 {
					p.run(5 * us)
					p.put(c)
				} else {
					p.get(c)
					p.scope("parse", func() { p.run(500 * us) })
				}
			}
		})
	},
	"a pool with more workers than cores": func(p *proc) {
		p.parallel(8, func(p *proc, i int) {
			for range 30 {
				p.scope("work", func() { p.run(10 * ms) })
				p.gosched()
			}
		})
	},
	"a lock that is had often and briefly": func(p *proc) {
		l := p.w.mutex("counts.mu")
		p.parallel(2, func(p *proc, i int) {
			for _, d := range varied(400, 200*us)[i*200:][:200] {
				p.scope("page", func() {
					p.run(d)
					p.take(l)
					p.run(2 * us)
					p.give(l)
				})
			}
		})
	},
	"many wait for a lock, and the cores are busy": func(p *proc) {
		l := p.w.mutex("log.mu")
		p.parallel(8, func(p *proc, i int) {
			for _, d := range varied(400, 1*ms)[i*50:][:50] {
				p.scope("page", func() {
					p.run(d)
					p.take(l)
					p.run(100 * us)
					p.give(l)
				})
			}
		})
	},
	"a server that is mostly idle": func(p *proc) {
		p.parallel(6, func(p *proc, i int) {
			for range 40 {
				p.sleep(7*ms, states.Network)
				p.scope("answer", func() { p.run(300 * us) })
			}
		})
	},
	"a pipeline with room": func(p *proc) {
		c := &pipe{room: 16}
		p.parallel(2, func(p *proc, i int) {
			for range 200 {
				if i == 0 {
					p.scope("read", func() { p.run(1 * ms) })
					p.put(c)
				} else {
					p.get(c)
					p.scope("pack", func() { p.run(1 * ms) })
				}
			}
		})
	},
	"a sender that has more than the receivers can take": func(p *proc) {
		c := &pipe{}
		p.parallel(3, func(p *proc, i int) {
			if i == 0 {
				for range 200 {
					p.run(10 * us)
					p.put(c)
				}
				return
			}
			for range 100 {
				p.get(c)
				p.scope("work", func() { p.run(1 * ms) })
			}
		})
	},
	"goroutines for a lot of work each": func(p *proc) {
		for range 20 {
			p.parallel(4, func(p *proc, i int) { p.scope("part", func() { p.run(2 * ms) }) })
		}
	},
	"a little garbage": func(p *proc) {
		p.parallel(2, func(p *proc, i int) {
			for range 100 {
				p.scope("parse", func() { p.run(1 * ms) })
				p.collect(20 * us)
			}
		})
	},
	"three rounds of one goroutine each, of which the last one is waited for": func(p *proc) {
		p.w.make(p, "steady", func(q *proc) { q.run(70 * ms) })
		for round := range int64(3) {
			done, waiting := false, false
			p.w.make(p, "round", func(q *proc) {
				q.scope("part", func() { q.run(6*ms + round/2*18*ms) })
				if done = true; waiting {
					p.w.wake(p, q)
				}
			})
			p.run(20 * ms)
			if !done {
				waiting = true
				p.wait(states.Join, "join")
			}
		}
	},
	"a lock that is held over a wait that nobody minds": func(p *proc) {
		l := p.w.mutex("state.mu")
		p.parallel(2, func(p *proc, i int) {
			for range 100 {
				if i == 0 {
					p.take(l)
					p.sleep(1*ms, states.Network)
					p.give(l)
				} else {
					p.scope("work", func() { p.run(1 * ms) })
				}
			}
		})
	},
}

func TestHealthyProgramsAreLeftAlone(t *testing.T) {
	for name, f := range healthy {
		for _, cores := range []int{1, 2, 4} {
			if cores == 4 && strings.Contains(name, "cores") {
				continue // the limit is for fewer
			}
			w := play(cores, f)
			r := w.examine()
			if len(r.Findings) > 0 {
				t.Errorf("%s, on %d: %s", name, cores, list(r))
			}
			valid(t, w, r)
		}
	}
}

// TestLittleIsKnown: without a Go execution trace only findings that don't need one are
// reported, locks among them, and the rules that did not run are listed.
func TestLittleIsKnown(t *testing.T) {
	w := play(2, examples[0].program(1))
	with := found(w.examine(), lockContention)
	w.m.hasGo = false
	for _, g := range w.m.gs {
		g.ivs = nil
	}
	r := w.examine()
	if len(r.Findings) != 1 || r.Findings[0].Verdict != lockContention {
		t.Fatalf("found %s", list(r))
	}
	if f := r.Findings[0]; f.Confidence >= with.Confidence || f.Gain > 2*with.Gain || f.Gain < with.Gain/2 {
		t.Errorf("without: %+v\nwith: %+v", f, with)
	}
	if len(r.CriticalPath)+len(r.Speedup)+len(r.Parallelism) > 0 {
		t.Errorf("what can't be known: %+v", r)
	}
	not := map[Verdict]bool{}
	for _, u := range r.Unexamined {
		if u.Why == "" || u.How == "" {
			t.Errorf("%+v", u)
		}
		for _, v := range u.Verdicts {
			not[v] = true
		}
	}
	for _, v := range []Verdict{blockingUnderLock, serialization, workInflation, loadImbalance, tooFine, oversubscription, notEnoughParallelism, gc, channel, spinning, pageFaults} {
		if !not[v] {
			t.Errorf("%s is not said to be unexamined", v)
		}
	}
	if not[lockContention] {
		t.Error("lock-contention was examined")
	}
	w.m.cores = Cores{}
	if r := w.examine(); len(r.Findings) > 0 {
		t.Errorf("on an unknown number of cores: %s", list(r))
	}
}

// TestAllVerdictsHaveARule, exactly one each.
func TestAllVerdictsHaveARule(t *testing.T) {
	rule := map[Verdict]bool{memoryBandwidth: true} // work inflation that a measurement confirms
	for _, r := range rules {
		if rule[r.verdict] || r.source == "" || r.look == nil {
			t.Errorf("the row of %s", r.verdict)
		}
		rule[r.verdict] = true
	}
	for _, v := range Verdicts {
		if !rule[v] {
			t.Errorf("no rule for %s", v)
		}
	}
	if len(rule) != len(Verdicts) {
		t.Errorf("%d rules, %d verdicts", len(rule), len(Verdicts))
	}
}

func TestMemoryBandwidthIsConfirmed(t *testing.T) {
	var x example
	for _, e := range examples {
		if e.verdict == workInflation {
			x = e
		}
	}
	for _, c := range []struct {
		name            string
		memory, compute float64
		want            Verdict
	}{
		{"saturated", 1.9, 1, memoryBandwidth},
		{"not saturated", 1.05, 1, workInflation},
		{"the cores share all", 1.9, 1.8, workInflation},
		{"saturated, but the work is inflated by more", 1.25, 1, workInflation},
	} {
		w := play(x.cores, x.program(1))
		w.m.bandwidth = &Bandwidth{Points: []BandwidthPoint{{1, 1, 1}, {2, c.memory, c.compute}}}
		r := w.examine()
		if len(r.Findings) != 1 || r.Findings[0].Verdict != c.want {
			t.Errorf("%s: %s", c.name, list(r))
		}
		if text := strings.Join(r.Findings[0].Evidence, "\n"); !strings.Contains(text, "by scopeview membench, 2 cores at once take") {
			t.Errorf("%s: the measurement is no evidence: %s", c.name, text)
		}
	}
}

func TestMisusedLocksAreReported(t *testing.T) {
	w := play(2, func(p *proc) {
		l := p.w.mutex("lost.mu")
		p.parallel(2, func(p *proc, i int) { p.run(ms) })
		x := p.w.m.locks[l.n]
		x.holds = append(x.holds, turn{g: p.w.m.g(2), from: 10, to: 9 * ms, open: true}, turn{g: p.w.m.g(1), from: 10, to: 20})
		x.waits = append(x.waits, turn{g: p.w.m.g(1), from: 30, to: 9 * ms, open: true, holder: 1})
	})
	got := plain(strings.Join(w.m.misused(), "\n"))
	want := "goroutine 2 ended at 1.00ms while it held lost.mu: others wait for it for ever\n" +
		"goroutine 1 has waited since 30ns for lost.mu, which it holds itself: it waits for ever"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if h := w.m.locks[0].holds; h[0].to != ms && h[1].to != ms {
		t.Errorf("the hold goes on: %+v", h)
	}
}

// TestForeignLocks: a lock that package scope does not record is named by the place of its
// waits, and its holder is the goroutine that woke the waiter.
func TestForeignLocks(t *testing.T) {
	w := play(2, func(p *proc) {
		var owner *proc
		var line []*proc
		p.parallel(2, func(p *proc, i int) {
			for _, d := range varied(200, 1*ms)[i*100:][:100] {
				p.run(d / 8)
				if owner != nil {
					line = append(line, p)
					p.wait(states.Lock, "add")
				}
				owner = p
				p.scope("update", func() { p.run(d) })
				if owner = nil; len(line) > 0 {
					owner = line[0]
					line = line[1:]
					p.w.wake(owner, p)
				}
			}
		})
	})
	r := w.examine()
	if len(r.Findings) != 1 {
		t.Fatal(list(r))
	}
	f := r.Findings[0]
	if f.Verdict != lockContention || !strings.HasPrefix(f.Object, "main.add main.go:") || !strings.Contains(f.Text, "Waiting for the lock in main.add main.go:") || f.Scopes[0] != "update" {
		t.Errorf("%+v", f)
	}
}

func TestWhyThereIsNoGoTraceIsSaid(t *testing.T) {
	m := newModel(0, 1000, func(uint16) string { return "" })
	m.noGo = "Go execution trace 1 is of another process"
	for _, u := range m.report().Unexamined {
		if strings.Contains(u.Why, m.noGo) {
			return
		}
	}
	t.Error("it is not")
}

// TestMergedIsSaid: for a merged trace the doctor asks for each process's own trace, not for
// more recording.
func TestMergedIsSaid(t *testing.T) {
	m := newModel(0, 1000, func(uint16) string { return "" })
	m.merged = 2
	list := m.report().Unexamined
	if len(list) != 1 || len(list[0].Verdicts) == 0 || !strings.Contains(list[0].Why, "merged from 2 processes") || strings.Contains(list[0].How, "record") {
		t.Errorf("%+v", list)
	}
}

// TestPolls: functions that one polls with, and those that only read the clock.
func TestPolls(t *testing.T) {
	for name, want := range map[string]bool{
		"runtime.Gosched": true, "sync.(*Mutex).TryLock": true, "sync/atomic.(*Int64).Load": true, "runtime.selectnbrecv": true,
		"sync/atomic.(*Int64).Add": false, "sync/atomic.CompareAndSwapUint32": true, "time.Now": false, "runtime.nanotime": false, "main.work": false, "sync.(*Mutex).Lock": false,
	} {
		if got := polls([]*symbols.Frame{{Func: name}, {Func: "main.main"}}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	deep := []*symbols.Frame{{Func: "main.a"}, {Func: "main.b"}, {Func: "main.c"}, {Func: "main.d"}, {Func: "runtime.Gosched"}}
	if polls(deep) {
		t.Error("a function that it calls does not poll")
	}
}
