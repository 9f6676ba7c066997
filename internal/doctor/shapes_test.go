package doctor

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
)

// shapes are problems made in another way than in examples: there must be no finding at 0,
// and the verdict first from some strength on.
var shapes = []struct {
	name    string
	verdict Verdict
	program func(k float64) func(p *proc)
	from    float64 // strength from which it must be reported
	text    []string
}{
	{
		name: "one reads for all", verdict: notEnoughParallelism, from: 0.6, text: []string{"Goroutine 2", "always has work", "the others wait for it in main.get", "a trace can't show"},
		program: func(k float64) func(p *proc) { return producing(0.5 + 0.3*k) },
	},
	{
		name: "one takes what all make", verdict: notEnoughParallelism, from: 0.6, text: []string{"the others wait for it in main.put"},
		program: func(k float64) func(p *proc) { return collecting(0.5 + 0.3*k) },
	},
	{
		name: "the last task is long", verdict: loadImbalance, from: 0.6, text: []string{"created in main.task"},
		program: func(k float64) func(p *proc) { return tailing(of(k, 60*ms)) },
	},
	{
		name: "handing a lock on", verdict: lockContention, from: 0.6, text: []string{"the lock in main.look", "in request"},
		program: handingOn,
	},
	{
		name: "taking turns", verdict: serialization, from: 0.6, text: []string{"one goroutine at a time", "main.turn", "block"},
		program: func(k float64) func(p *proc) { return takingTurns(0.4+0.4*k, 6) },
	},
}

// tailing starts a goroutine for each of 200 tasks, eight at once, the last of which takes
// longer by a factor, and waits for them when all are started.
func tailing(longer int64) func(p *proc) {
	return func(p *proc) {
		slots := &pipe{room: 8}
		left, waiting := 200, false
		for n := range 200 {
			place := "task"
			if n == 199 {
				place = "task#called elsewhere"
			}
			p.put(slots)
			p.w.make(p, place, func(q *proc) {
				q.scope("pack", func() {
					q.run(400 * us)
					if n == 199 {
						q.run(longer)
					}
				})
				q.get(slots)
				if left--; left == 0 && waiting {
					p.w.wake(p, q)
				}
			})
		}
		if left > 0 {
			waiting = true
			p.wait(states.Join, "join")
		}
	}
}

// handingOn has two workers that look up values in caches, a part k of them in a shared one.
// The lock is held for a moment, and a woken waiter takes much longer to get a core: the
// cost is in the run queue, while a core has nothing to do.
func handingOn(k float64) func(p *proc) {
	return func(p *proc) {
		p.w.slow = 20 * us
		caches := make([]syncMutex, 65)
		next := 0
		p.parallel(2, func(p *proc, i int) {
			for next < 6000 {
				n := next
				next++
				p.scope("request", func() {
					p.run(int64(5+n*7%11) * us)
					c := &caches[1+n%64]
					if n%10 < int(10*k) {
						c = &caches[0]
					}
					p.lockSync(c, "look")
					p.run(3 * us)
					p.unlockSync(c)
				})
			}
		})
	}
}

// takingTurns has workers that process blocks and wait for their turn with each, by a Cond
// that wakes all, to do this part of it.
func takingTurns(part float64, workers int) func(p *proc) {
	return func(p *proc) {
		next, turn := 0, 0
		var line []*proc
		p.parallel(workers, func(p *proc, i int) {
			for next < 400 {
				n := next
				next++
				p.scope("block", func() {
					p.run(of(1-part, ms))
					for turn != n {
						line = append(line, p)
						p.wait(states.Cond, "turn")
					}
					p.run(of(part, ms))
					turn++
					for _, q := range line {
						p.w.wake(q, p)
					}
					line = nil
				})
			}
		})
	}
}

// producing has a goroutine that does this part of the work on each record, and hands the
// records to four that do the rest.
func producing(part float64) func(p *proc) {
	return func(p *proc) {
		c := &pipe{room: 64}
		p.parallel(5, func(p *proc, i int) {
			if i == 0 {
				for range 400 {
					p.run(of(part, ms))
					p.put(c)
				}
				return
			}
			for range 100 {
				p.get(c)
				p.scope("record", func() { p.run(of(1-part, ms)) })
			}
		})
	}
}

// collecting has four goroutines that make records, and one that does this part of the work
// on each of them afterwards.
func collecting(part float64) func(p *proc) {
	return func(p *proc) {
		c := &pipe{room: 4}
		p.parallel(5, func(p *proc, i int) {
			if i > 0 {
				for range 100 {
					p.scope("record", func() { p.run(of(1-part, ms)) })
					p.put(c)
				}
				return
			}
			for range 400 {
				p.get(c)
				p.run(of(part, ms))
			}
		})
	}
}

func TestShapes(t *testing.T) {
	for _, x := range shapes {
		for _, k := range []float64{0, 0.3, 0.6, 1} {
			w := play(2, x.program(k))
			r := w.examine()
			valid(t, w, r)
			switch {
			case k == 0 && len(r.Findings) > 0:
				t.Errorf("%s at 0: %s", x.name, list(r))
			case k < x.from:
			case len(r.Findings) == 0 || r.Findings[0].Verdict != x.verdict:
				t.Errorf("%s at %v: %s is not first:%s", x.name, k, x.verdict, list(r))
			case k == 1:
				for _, want := range x.text {
					if !strings.Contains(r.Findings[0].Text, want) {
						t.Errorf("%q lacks %q", r.Findings[0].Text, want)
					}
				}
			}
		}
	}
}

// TestMoreThreadsThanCPUs: goroutines are runnable and a CPU is idle, which happens only
// where threads take turns. The simulated world loses no time by sharing its cores, so it
// plays on fewer.
func TestMoreThreadsThanCPUs(t *testing.T) {
	for _, c := range []struct {
		procs int64
		on    int
		found bool
	}{{16, 1, true}, {16, 2, false}, {2, 1, false}} {
		w := play(c.on, func(p *proc) {
			for range 50 {
				p.parallel(16, func(p *proc, i int) { p.scope("step", func() { p.run(40 * us) }) })
			}
		})
		w.m.cores.Count, w.m.asked, w.m.procs = 2, 2, c.procs
		f := found(w.examine(), oversubscription)
		if (f != nil) != c.found {
			t.Errorf("%+v: %s", c, list(w.examine()))
		}
		if f != nil && (!strings.Contains(f.Text, "GOMAXPROCS is 16") || f.Gain != unknownGain) {
			t.Errorf("%+v", f)
		}
	}
}

// TestOthersTookWhatTheyRan: if no other program ran, the program's threads waited for each
// other, whatever CPU time is missing.
func TestOthersTookWhatTheyRan(t *testing.T) {
	for _, c := range []struct {
		others float64 // CPUs
		share  float64
	}{{0, 0}, {0.02, 0}, {1.5, 0.75}} {
		w := play(2, robbedBy(3))
		w.m.beats.over = w.now
		w.m.beats.user, w.m.beats.system = w.now/2, 0
		w.m.beats.busy = w.now/2 + int64(c.others*float64(w.now))
		got := 0.0
		if s := w.examine().Starved; s != nil {
			got = s.Share
		}
		if got < c.share-0.01 || got > c.share+0.01 {
			t.Errorf("others ran on %v CPUs: a share of %v", c.others, got)
		}
	}
}

// TestLoopsThatLetOthersRun: an atomic load that is inlined into a loop has no sample of its
// own, but the loop yields.
func TestLoopsThatLetOthersRun(t *testing.T) {
	for _, c := range []struct {
		spin  float64
		found bool
	}{{0, false}, {0.1, false}, {0.4, true}, {0.8, true}} {
		w := play(2, func(p *proc) {
			p.parallel(2, func(p *proc, i int) {
				for range 100 {
					p.scope("simulate", func() { p.run(of(1-c.spin, ms) + of(c.spin, ms)) })
					p.gosched()
				}
			})
		})
		for _, g := range w.m.gs[1:] {
			for i := range 100 {
				x := sample{g: g, place: "main.simulate main.go:3"}
				if float64(i) < 100*c.spin {
					x.loops, x.place = true, "main.barrier main.go:7"
				}
				w.m.samples = append(w.m.samples, x)
			}
		}
		r := w.examine()
		f := found(r, spinning)
		if (f != nil) != c.found {
			t.Errorf("%v of the time: %s", c.spin, list(r))
		}
		if f != nil && (!strings.Contains(f.Text, "in main.barrier main.go:7") || float64(f.Gain) < c.spin/2 || float64(f.Gain) > 2*c.spin) {
			t.Errorf("%+v", f)
		}
	}
}

// TestManyShortGoroutines: a server's batches of short goroutines, on cores that are idle
// half of the time.
func TestManyShortGoroutines(t *testing.T) {
	for _, c := range []struct {
		name   string
		work   int64 // ns of each
		places []string
		rest   int64 // ns of other work per batch
		text   string
	}{
		{"38,000 of 5 µs", 5 * us, []string{"answer"}, 0, "38,000 goroutines are created in main.answer main.go:2 for 5.00µs of work each"},
		{"made in three functions", 5 * us, []string{"answer", "log", "answer", "count"}, 0, "are created in main.answer main.go:2 and 2 places more for 5.00µs"},
		{"of 50 µs", 50 * us, []string{"answer"}, 0, ""},
		{"beside other work", 5 * us, []string{"answer"}, 2 * ms, ""},
	} {
		w := play(2, func(p *proc) {
			for range 38 {
				left, waiting := 1000, false
				for n := range 1000 {
					p.run(800)
					p.w.make(p, c.places[n%len(c.places)], func(q *proc) {
						q.run(c.work)
						if left--; left == 0 && waiting {
							p.w.wake(p, q)
						}
					})
				}
				p.run(c.rest)
				if left > 0 {
					waiting = true
					p.wait(states.Join, "join")
				}
				p.run(c.rest)
				p.sleep(5*ms, states.Sleep)
			}
		})
		r := w.examine()
		f := found(r, tooFine)
		if (f == nil) != (c.text == "") || f != nil && !strings.Contains(f.Text, c.text) {
			t.Errorf("%s: %s", c.name, list(r))
		}
	}
}

// flushing has four workers that send results, and one that receives them and is busy for 4
// ms with every 64.
func flushing(room int) func(p *proc) {
	return func(p *proc) {
		c := &pipe{room: room}
		p.parallel(5, func(p *proc, i int) {
			if i > 0 {
				for range 256 {
					p.scope("work", func() { p.run(120 * us) })
					p.put(c)
				}
				return
			}
			for n := range 1024 {
				p.get(c)
				if n%64 == 63 {
					p.scope("flush", func() { p.run(4 * ms) })
				}
			}
		})
	}
}

// TestBursts: a buffer for what a receiver does not take while it is busy.
func TestBursts(t *testing.T) {
	w := play(2, flushing(0))
	truth := 1 - play(2, flushing(256)).time()/w.time()
	r := w.examine()
	if len(r.Findings) == 0 || r.Findings[0].Verdict != channel {
		t.Fatalf("%s", list(r))
	}
	if g := float64(r.Findings[0].Gain); g < 0.75*truth || g > 1.25*truth {
		t.Errorf("gain %.2f, and with room it takes %.2f less", g, truth)
	}
	if r := play(2, flushing(256)).examine(); len(r.Findings) > 0 {
		t.Errorf("mended: %s", list(r))
	}
}

// TestHandOffs: the cost of hand-offs between goroutines of a server rises as their work in
// between shrinks, by a channel, a select or a Cond.
func TestHandOffs(t *testing.T) {
	for _, state := range []states.State{states.Channel, states.Select, states.Cond} {
		for _, c := range []struct {
			work  int64
			found bool
		}{{5 * us, true}, {20 * us, true}, {150 * us, false}} {
			r := handOffs(state, c.work, 500, "answer", "answer").examine()
			if f := found(r, channel); (f != nil) != c.found || f != nil && !strings.Contains(f.Text, "in main.answer main.go:") {
				t.Errorf("%s, %d ns between: %s", state, c.work, list(r))
			}
		}
	}
}

// handOffs has a pair of goroutines for each place, which take turns: work, wake the other
// one, wait there for it.
func handOffs(state states.State, work int64, times int, places ...string) *world {
	return play(2, func(p *proc) {
		idle := make([]*proc, 2*len(places))
		p.parallel(len(idle), func(p *proc, i int) {
			for range times {
				p.run(work)
				if other := idle[i^1]; other != nil {
					idle[i^1] = nil
					p.w.wake(other, p)
				}
				idle[i] = p
				p.wait(state, places[i/2])
			}
		})
	})
}

// TestHandOffsInManyPlaces: many places, none of which has enough to be reported alone.
func TestHandOffsInManyPlaces(t *testing.T) {
	for _, c := range []struct {
		work  int64
		found bool
	}{{15 * us, true}, {60 * us, false}} {
		r := handOffs(states.Select, c.work, 300, "write", "read", "flush", "ack").examine()
		f := found(r, channel)
		if (f != nil) != c.found || f != nil && (!strings.Contains(f.Text, "scopeview scale") || f.Gain != unknownGain) {
			t.Errorf("%d ns between: %s", c.work, list(r))
		}
	}
}
