package doctor

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
)

// example is a program with a problem of a strength from 0 to 1.
type example struct {
	verdict Verdict
	program func(k float64) func(p *proc)
	mended  func(p *proc)             // the same work without the problem
	prepare func(w *world, k float64) // adds samples and heartbeats, which are not simulated
	text    []string                  // parts of the sentence at 1
	scope   string                    // first of the finding's scopes
	cores   int
}

// varied returns n durations around a mean, always the same ones.
func varied(n int, mean int64) []int64 {
	r := rand.New(rand.NewPCG(7, 9))
	ds := make([]int64, n)
	for i := range ds {
		ds[i] = mean/2 + r.Int64N(mean)
	}
	return ds
}

func of(k float64, d int64) int64 { return int64(k * float64(d)) }

var examples = []example{
	{
		verdict: lockContention, cores: 2, scope: "page", text: []string{"lock words.mu", "of the time of the 2 cores", "while page holds it", "shorter"},
		program: func(k float64) func(p *proc) {
			return func(p *proc) {
				l := p.w.mutex("words.mu")
				p.parallel(2, func(p *proc, i int) {
					for _, d := range varied(300, 1*ms)[i*150:][:150] {
						p.scope("page", func() {
							p.run(d - of(k, d))
							if k > 0 {
								p.take(l)
								p.run(of(k, d))
								p.give(l)
							}
						})
					}
				})
			}
		},
	},
	{
		verdict: fatCriticalSection, cores: 2, scope: "copy", text: []string{"Lock queue.mu is held", "of that is spent in copy", "while letter holds it"},
		program: func(k float64) func(p *proc) {
			k = math.Sqrt(k) // the lock must be held half of the time
			return func(p *proc) {
				l := p.w.mutex("queue.mu")
				p.parallel(2, func(p *proc, i int) {
					for _, d := range varied(300, 1*ms)[i*150:][:150] {
						p.scope("letter", func() {
							p.take(l)
							p.run(10 * us)
							p.scope("copy", func() { p.run(of(k, d)) })
							p.give(l)
							p.run(d - of(k, d))
						})
					}
				})
			}
		},
	},
	{
		verdict: convoy, cores: 2, scope: "answer", text: []string{"queue for lock table.mu", "more of them wait than the 2 cores could run"},
		program: func(k float64) func(p *proc) {
			k = math.Cbrt(k)
			return func(p *proc) {
				l := p.w.mutex("table.mu")
				p.parallel(20, func(p *proc, i int) {
					for _, d := range varied(600, 1*ms)[i*30:][:30] {
						p.sleep(8*ms, states.Sleep)
						p.scope("answer", func() {
							p.run(d - of(k, d))
							if k > 0 {
								p.take(l)
								p.run(of(k, d))
								p.give(l)
							}
						})
					}
				})
			}
		},
	},
	{
		verdict: blockingUnderLock, cores: 2, scope: "ask", text: []string{"Lock cache.mu is held in ask", "asleep"},
		program: func(k float64) func(p *proc) {
			return func(p *proc) {
				l := p.w.mutex("cache.mu")
				p.parallel(3, func(p *proc, i int) {
					for n := range 60 {
						p.scope("page", func() {
							p.take(l)
							if float64(n*7%20) < 20*k {
								p.scope("ask", func() { p.sleep(2*ms, states.Sleep) })
								p.give(l)
							} else {
								p.give(l)
								p.sleep(2*ms, states.Sleep)
							}
							p.run(1 * ms)
						})
					}
				})
			}
		},
	},
	{
		verdict: serialization, cores: 2, scope: "number", text: []string{"one goroutine at a time runs", "main.get main.go", "number"},
		program: func(k float64) func(p *proc) {
			k = math.Cbrt(math.Cbrt(k))
			return func(p *proc) {
				next := []*pipe{{room: 1}, {room: 1}}
				next[0].n = 1
				p.parallel(2, func(p *proc, i int) {
					for _, d := range varied(100, 2*ms) {
						p.get(next[i])
						p.scope("number", func() {
							p.run(of(k, d))
							p.put(next[1-i])
							p.run(d - of(k, d))
						})
					}
				})
			}
		},
	},
	{
		verdict: loadImbalance, cores: 2, scope: "compare", text: []string{"created in main.parallel main.go", "unequal work", "compare"},
		program: func(k float64) func(p *proc) {
			k = math.Sqrt(k)
			return func(p *proc) {
				for range 5 {
					p.parallel(2, func(p *proc, i int) {
						p.scope("compare", func() { p.run(10*ms + int64(2*i-1)*of(k, 6*ms)) })
					})
				}
			}
		},
	},
	{
		verdict: notEnoughParallelism, cores: 2, scope: "merge", text: []string{"The main goroutine runs alone", "in merge"},
		program: func(k float64) func(p *proc) {
			return func(p *proc) {
				for range 5 {
					serial := of(k, 12*ms)
					p.parallel(2, func(p *proc, i int) { p.scope("read", func() { p.run(10*ms - serial/2) }) })
					p.scope("merge", func() { p.run(serial) })
				}
			}
		},
		mended: func(p *proc) {
			for range 5 {
				p.parallel(2, func(p *proc, i int) { p.scope("read", func() { p.run(10 * ms) }) })
			}
		},
	},
	{
		verdict: tooFine, cores: 2, scope: "check", text: []string{"goroutines are created in main.", "for 200ns of work each"},
		program: func(k float64) func(p *proc) {
			return tooFineBy(int(math.Pow(4096, 1-math.Sqrt(k))))
		},
		mended: tooFineBy(4096),
	},
	{
		verdict: oversubscription, cores: 2, scope: "walk", text: []string{"want to run on 2 cores", "in walk", "because they yield"},
		program: func(k float64) func(p *proc) {
			return oversubscribed(2 * int(math.Pow(32, k)))
		},
		mended: oversubscribed(2),
	},
	{
		verdict: gc, cores: 2, scope: "parse", text: []string{"The garbage collector takes", "mostly in parse"},
		program: func(k float64) func(p *proc) {
			return func(p *proc) {
				p.parallel(2, func(p *proc, i int) {
					for _, d := range varied(300, 1*ms)[i*150:][:150] {
						p.scope("parse", func() {
							p.run(d)
							if k > 0 {
								p.collect(of(k, d))
							}
						})
					}
				})
			}
		},
	},
	{
		verdict: channel, cores: 2, scope: "pack", text: []string{"Senders in main.put main.go", "in pack", "With a buffer"},
		program: func(k float64) func(p *proc) { return pipeline(k, 0) },
		mended:  pipeline(1, 64),
	},
	{
		verdict: spinning, cores: 2, scope: "poll", text: []string{"polls in a loop, in main.poll"},
		program: func(k float64) func(p *proc) {
			return func(p *proc) {
				p.parallel(3, func(p *proc, i int) {
					for range 100 {
						if i < 2 {
							p.scope("pack", func() { p.run(1 * ms) })
							p.gosched()
						} else if k > 0 {
							p.scope("poll", func() { p.run(of(k, 1*ms)) })
							p.gosched()
						}
					}
				})
			}
		},
		prepare: func(w *world, k float64) {
			for _, g := range w.m.gs {
				for t := int64(0); t < g.ran(w.m.from, w.m.to); t += ms {
					w.m.samples = append(w.m.samples, sample{g: g, polls: g.id == 4, place: "main.poll main.go:7"})
				}
			}
		},
	},
	{
		verdict: pageFaults, cores: 2, scope: "picture", text: []string{"Page faults take up to", "picture"},
		program: func(k float64) func(p *proc) {
			return func(p *proc) {
				p.parallel(2, func(p *proc, i int) {
					for range 100 {
						p.scope("picture", func() { p.run(1*ms + of(k, 1*ms)) })
					}
				})
			}
		},
		prepare: func(w *world, k float64) {
			cpu := int64(2 * w.time())
			system := int64(float64(cpu) * k / (1 + k))
			w.m.beats = beats{over: w.now, user: cpu - system, system: system, minor: system / 1000}
		},
	},
	{
		verdict: workInflation, cores: 2, scope: "filter", text: []string{"filter takes 1.6", "Possible causes", "scopeview membench"},
		program: func(k float64) func(p *proc) {
			return func(p *proc) {
				filter := func(p *proc, n int, factor float64) {
					for _, d := range varied(n, 1*ms) {
						p.scope("filter", func() { p.run(int64(factor * float64(900*us+d/10))) })
					}
				}
				filter(p, 20, 1)
				p.parallel(2, func(p *proc, i int) { filter(p, 100, 1+0.6*k) })
			}
		},
	},
}

func tooFineBy(batch int) func(p *proc) {
	return func(p *proc) {
		p.parallel(2, func(p *proc, i int) {
			for at := 0; at < 8192; at += batch {
				p.run(800) // to start it
				p.parallel(1, func(p *proc, _ int) {
					p.scope("check", func() { p.run(200 * int64(batch)) })
				})
			}
		})
	}
}

func oversubscribed(workers int) func(p *proc) {
	return func(p *proc) {
		p.parallel(workers, func(p *proc, i int) {
			for range 3200 / workers {
				p.scope("walk", func() { p.run(30*us + 20*us*min(int64(workers/2-1), 1)) })
				p.gosched()
			}
		})
	}
}

// pipeline has a goroutine that reads and one that packs, each with durations that vary by
// k, and a channel of this capacity between them.
func pipeline(k float64, room int) func(p *proc) {
	r := rand.New(rand.NewPCG(3, 4))
	size := func() int64 { return int64(float64(ms) * (1 - k + k*min(r.ExpFloat64(), 5))) }
	var reads, packs []int64
	for range 400 {
		reads, packs = append(reads, size()), append(packs, size())
	}
	return func(p *proc) {
		c := &pipe{room: room}
		p.parallel(2, func(p *proc, i int) {
			for n := range reads {
				if i == 0 {
					p.scope("read", func() { p.run(reads[n]) })
					p.put(c)
					continue
				}
				p.get(c)
				p.scope("pack", func() { p.run(packs[n]) })
			}
		})
	}
}

func (x *example) report(k float64) (*world, *Report) {
	w := play(x.cores, x.program(k))
	if x.prepare != nil {
		x.prepare(w, k)
	}
	return w, w.examine()
}

// TestRulesFollowTheKnob: there is no finding at 0; from 0.5 on it is the first, its share
// grows, and its gain is near that of the mended program.
func TestRulesFollowTheKnob(t *testing.T) {
	for _, x := range examples {
		t.Run(string(x.verdict), func(t *testing.T) {
			last := 0.0
			for _, k := range []float64{0, 0.25, 0.5, 0.75, 1} {
				w, r := x.report(k)
				f := found(r, x.verdict)
				if k == 0 && len(r.Findings) > 0 {
					t.Errorf("at 0: %s", list(r))
				}
				if f == nil {
					if k >= 0.5 || last > 0 {
						t.Fatalf("at %v: not found; %s", k, list(r))
					}
					continue
				}
				if f.Share < last || f.Share == last && f.Share < 1 {
					t.Errorf("at %v: share %v is not above %v", k, f.Share, last)
				}
				last = f.Share
				if k >= 0.5 && r.Findings[0].Verdict != x.verdict {
					t.Errorf("at %v: it is not first: %s", k, list(r))
				}
				valid(t, w, r)
				if k < 1 {
					continue
				}
				for _, want := range x.text {
					if !strings.Contains(f.Text, want) {
						t.Errorf("%q lacks %q", f.Text, want)
					}
				}
				if len(f.Scopes) == 0 || f.Scopes[0] != x.scope {
					t.Errorf("scopes %q, want %s first", f.Scopes, x.scope)
				}
				mended := x.mended
				if mended == nil {
					mended = x.program(0)
				}
				truth := 1 - play(x.cores, mended).time()/w.time()
				if unknown := x.verdict == oversubscription || x.verdict == serialization; unknown != (f.Gain < 0) {
					t.Errorf("gain %v", f.Gain)
				} else if g := float64(f.Gain); !unknown && (g < truth/2 || g > truth*2) {
					t.Errorf("gain %.2f, and mended it takes %.2f less", f.Gain, truth)
				}
			}
			if x.mended != nil {
				if r := play(x.cores, x.mended).examine(); len(r.Findings) > 0 {
					t.Errorf("mended: %s", list(r))
				}
			}
		})
	}
}

func found(r *Report, v Verdict) *Finding {
	for i := range r.Findings {
		if r.Findings[i].Verdict == v {
			return &r.Findings[i]
		}
	}
	return nil
}

func list(r *Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n  %s share %.3f gain %.3f confidence %.2f: %s", f.Verdict, f.Share, f.Gain, f.Confidence, f.Text)
	}
	return b.String()
}

// valid checks the invariants of any report.
func valid(t *testing.T, w *world, r *Report) {
	t.Helper()
	last := math.Inf(1)
	for _, f := range r.Findings {
		if !(f.Share >= 0 && f.Share <= 1 && (f.Gain == unknownGain || f.Gain >= 0 && f.Gain <= 1) && f.Confidence > 0 && f.Confidence <= 1) || f.Text == "" || f.Scopes == nil {
			t.Errorf("%+v", f)
		}
		if f.FromNS < w.m.from || f.ToNS > w.m.to || f.FromNS >= f.ToNS {
			t.Errorf("from %d to %d: %s", f.FromNS, f.ToNS, f.Text)
		}
		if f.weight*f.Confidence > last {
			t.Errorf("not by effect: %s", list(r))
		}
		last = f.weight * f.Confidence
		addsUp(t, &f)
	}
	sum := 0.0
	for _, s := range r.Speedup {
		if s.Cores < 0 {
			t.Errorf("%s: %v cores", s.Name, s.Cores)
		}
		sum += s.Cores
	}
	if math.Abs(sum-w.m.cores.Count) > 1e-6 {
		t.Errorf("the speed-up stack adds up to %v cores", sum)
	}
	sum = 0
	for _, s := range r.Parallelism {
		sum += s
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("how many ran adds up to %v", sum)
	}
	for _, p := range r.CriticalPath {
		if p.Of == "" && p.Time != w.m.span() {
			t.Errorf("the run's critical path has %d of %d ns", p.Time, w.m.span())
		}
		validSteps(t, w, &p)
	}
}

// validSteps checks the data of a picture: the path of the run has no gaps, and the gain of
// a part grows with it.
func validSteps(t *testing.T, w *world, p *Path) {
	t.Helper()
	if p.Of != "" {
		if len(p.Steps) > 0 {
			t.Errorf("the path of %s has steps", p.Of)
		}
		return
	}
	at := w.m.from
	for _, s := range p.Steps {
		if s[1] != at && p.AllSteps <= mostSteps || s[1] < at || s[2] <= s[1] || w.m.byID[uint64(s[0])] == nil {
			t.Fatalf("the path's step %v comes after %d", s, at)
		}
		at = s[2]
	}
	if at != w.m.to && p.AllSteps <= mostSteps {
		t.Errorf("the path's steps end at %d, want %d", at, w.m.to)
	}
	for _, x := range p.WhatIf {
		if last := 0.0; len(x.Partly) != 3 {
			t.Errorf("what if %s: %v", x.Name, x.Partly)
		} else {
			for _, g := range append(x.Partly, x.Gain) {
				if g < last-0.02 || g > 1 { // with another order of events, a replay is slightly off
					t.Errorf("what if %s took a part: %v, and nothing: %v", x.Name, x.Partly, x.Gain)
				}
				last = g
			}
		}
	}
}

// TestWorst: a finding about a lock has the longest wait for it.
func TestWorst(t *testing.T) {
	for _, x := range examples {
		w, r := x.report(1)
		f := found(r, x.verdict)
		if f == nil || !slices.Contains([]Verdict{lockContention, fatCriticalSection, convoy, blockingUnderLock}, x.verdict) {
			continue
		}
		var want *Worst
		for _, l := range w.m.locks {
			for _, d := range l.waits {
				if l.name == f.Object && (want == nil || d.time() > want.ToNS-want.FromNS) {
					want = &Worst{d.g.id, d.from, d.to}
				}
			}
		}
		if want == nil || f.Worst == nil || *f.Worst != *want {
			t.Errorf("%s: the worst is %+v, want %+v", x.verdict, f.Worst, want)
		}
	}
}

// TestUnknownGain: an unknown gain is null, and the sentence has no number.
func TestUnknownGain(t *testing.T) {
	for _, x := range examples {
		if x.verdict != oversubscription && x.verdict != serialization {
			continue
		}
		_, r := x.report(1)
		f := found(r, x.verdict)
		b, err := json.Marshal(f)
		if err != nil || !strings.Contains(string(b), `"gain":null`) {
			t.Errorf("%s, %v", b, err)
		}
		var back Finding
		if err := json.Unmarshal(b, &back); err != nil || back.Gain != unknownGain {
			t.Errorf("%v, %v", back.Gain, err)
		}
		if strings.Contains(f.Text, "shorter by") || !strings.Contains(f.Text, "a trace can't show") {
			t.Errorf("%s", f.Text)
		}
	}
}

// TestNoGainAboveWhatIsNotWork: a gain never exceeds what the program's own work leaves on
// all cores, whatever a replay returns.
func TestNoGainAboveWhatIsNotWork(t *testing.T) {
	w := play(2, func(p *proc) {
		p.parallel(2, func(p *proc, i int) { p.run(10 * ms) })
		p.run(5 * ms)
	})
	w.examine()
	if got := w.m.mostGain(0); math.Abs(got-(1-25.0/30)) > 0.01 {
		t.Errorf("%.3f", got)
	}
	if got := w.m.mostGain(0.5); math.Abs(got-(1.5-25.0/30)) > 0.01 {
		t.Errorf("%.3f with half of the work spared", got)
	}
	w.m.beats.over, w.m.beats.user, w.m.beats.system = w.now, w.now/2, 0 // the goroutines only seemed to run
	if got := w.m.mostGain(0); math.Abs(got-0.75) > 0.01 {
		t.Errorf("%.3f by the process's CPU time", got)
	}
}

// TestRetriesAreSpinning: failed tries that take half of the time of all cores are a finding
// about their loop, and a run without them takes half as long.
func TestRetriesAreSpinning(t *testing.T) {
	program := func(tries int64) *world {
		w := play(2, func(p *proc) {
			l := p.w.mutex("stack")
			x := p.w.m.locks[l.n]
			x.kind = format.LockRetry
			p.parallel(2, func(p *proc, _ int) {
				for range 10 {
					p.scope("push", func() {
						from := p.w.now
						p.run(tries)
						x.waits, x.contended = append(x.waits, turn{g: p.g, from: from, to: p.w.now}), x.contended+1
						p.run(1 * ms)
					})
				}
			})
		})
		w.m.samples = []sample{{g: w.m.gs[0]}} // the rule requires a CPU profile
		return w
	}
	w := program(1 * ms)
	r := w.examine()
	if len(r.Findings) != 1 {
		t.Fatalf("%s", list(r))
	}
	f := &r.Findings[0]
	want := "stack is tried repeatedly: failed attempts take 50% of the time of the 2 cores, in push. Without them, the run would be 50% shorter."
	if f.Verdict != spinning || f.Text != want || math.Abs(f.Share-0.5) > 0.01 {
		t.Errorf("%s, share %.3f: %s", f.Verdict, f.Share, f.Text)
	}
	if truth := 1 - program(0).time()/w.time(); math.Abs(float64(f.Gain)-truth) > 0.01 {
		t.Errorf("the gain is said to be %.3f, and is %.3f", f.Gain, truth)
	}
	if len(f.Evidence) != 2 || !strings.HasPrefix(f.Evidence[0], "20 waits for lock stack took 20.0ms in all") {
		t.Errorf("%q", f.Evidence)
	}
}

// TestRulesHaveNoWords: rules find facts, and words.go words them.
func TestRulesHaveNoWords(t *testing.T) {
	files, _ := filepath.Glob("rules*.go")
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); !strings.HasSuffix(name, "_test.go") && (path == "fmt" || strings.HasSuffix(path, "/analysis")) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
	if len(files) < 5 {
		t.Errorf("%q", files)
	}
}
