package doctor

import (
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
)

// robbedBy has two goroutines compute, and other programs take their cores for k ms after
// each round.
func robbedBy(k int64) func(p *proc) {
	return func(p *proc) {
		p.parallel(2, func(p *proc, i int) {
			for range 20 {
				p.scope("work", func() {
					p.run(1 * ms)
					if k > 0 {
						p.robbed(k * ms)
					}
				})
			}
		})
	}
}

// TestStarvedByOthers: the report begins with what took the CPUs, and it is not a finding.
func TestStarvedByOthers(t *testing.T) {
	for _, c := range []struct {
		name  string
		k     int64
		beats func(w *world) // in CPUs × ns
		share float64
		got   float64
		who   []string
		not   []string
	}{
		{name: "left alone", k: 0, share: 0},
		{name: "by other processes", k: 3, share: 0.75, got: 0.5, who: []string{"other processes took 1.50", "got 0.50 of 2 CPUs", "75% of those that it wanted"}, not: []string{"limit", "hypervisor"}},
		{name: "by the limit", k: 3, beats: func(w *world) { w.m.beats.throttled = w.now * 3 / 2; w.m.limit = 0.5 }, share: 0.75, got: 0.5,
			who: []string{"the cgroup's CPU limit took 1.50 (it allows 0.5, and GOMAXPROCS is 2)"}, not: []string{"other", "hypervisor"}},
		{name: "by both", k: 3, beats: func(w *world) { w.m.beats.throttled = w.now / 2 }, share: 0.75, got: 0.5,
			who: []string{"other processes took 1.00, the cgroup's CPU limit took 0.50"}},
		{name: "more throttled than it waited", k: 3, beats: func(w *world) { w.m.beats.throttled = w.now * 9 }, share: 0.75, got: 0.5, who: []string{"limit took 1.50"}, not: []string{"other"}},
		{name: "threads of its own", k: 3, beats: func(w *world) { w.m.beats.user, w.m.beats.system = w.now*2, 0 }, share: 0},
		{name: "by the hypervisor", k: 0, beats: func(w *world) {
			w.m.beats.user, w.m.beats.system = w.now/2, w.now/2
			w.m.beats.busy, w.m.beats.steal = w.now*2, w.now // half of the machine's busy time was ours
		}, share: 1.0 / 3, got: 1, who: []string{"the hypervisor took 0.50"}, not: []string{"other"}},
		{name: "without switches, by the heartbeats", k: 0, beats: func(w *world) {
			w.m.switches = false
			w.m.beats.user, w.m.beats.system, w.m.beats.wait = w.now/4, 0, w.now
		}, share: 0.8, got: 0.25, who: []string{"other processes took 1.00", "got 0.25 of 2"}},
		{name: "nothing is known", k: 0, beats: func(w *world) { w.m.asked = 0 }, share: 0},
	} {
		w := play(2, robbedBy(c.k))
		w.m.beats.over = w.now
		if c.beats != nil {
			c.beats(w)
		}
		r := w.examine()
		if len(r.Findings) > 0 {
			t.Errorf("%s: %s", c.name, list(r))
		}
		if c.share == 0 {
			if r.Starved != nil {
				t.Errorf("%s: %+v", c.name, r.Starved)
			}
			continue
		}
		s := r.Starved
		if s == nil || math.Abs(s.Share-c.share) > 0.01 || math.Abs(s.Got-c.got) > 0.01 {
			t.Errorf("%s: %+v, want a share of %.2f", c.name, s, c.share)
			continue
		}
		for _, want := range c.who {
			if !strings.Contains(s.Text, want) {
				t.Errorf("%s: %q lacks %q", c.name, s.Text, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(s.Text, not) {
				t.Errorf("%s: %q has %q", c.name, s.Text, not)
			}
		}
	}
}

// TestRunQueues: waiting for one of Go's processors and waiting for a CPU of the system are
// separate.
func TestRunQueues(t *testing.T) {
	part := func(r *Report, name string) float64 {
		for _, s := range r.Speedup {
			if s.Name == name {
				return s.Cores
			}
		}
		t.Fatalf("there is no %q in %+v", name, r.Speedup)
		return 0
	}
	const system, ofGo = "waiting in the system's run queue", "waiting in Go's run queue"
	r := play(2, robbedBy(3)).examine()
	if s, g := part(r, system), part(r, ofGo); math.Abs(s-1.5) > 0.01 || g != 0 {
		t.Errorf("robbed: %.2f cores in the system's queue, %.2f in Go's", s, g)
	}
	w := play(1, func(p *proc) { // a core is idle while a goroutine is ready: it takes time to get there
		p.parallel(2, func(p *proc, i int) { p.run(10 * ms) })
	})
	w.m.cores.Count, w.m.asked = 2, 2
	r = w.examine()
	if s, g := part(r, system), part(r, ofGo); s != 0 || g < 0.45 {
		t.Errorf("one processor: %.2f cores in the system's queue, %.2f in Go's", s, g)
	}
	w = play(2, robbedBy(0))
	w.m.switches = false
	w.m.beats = beats{over: w.now, user: w.now / 2, wait: w.now, throttled: -1, busy: -1, steal: -1}
	r = w.examine()
	if s, run := part(r, system), part(r, "running"); math.Abs(s-1) > 0.01 || math.Abs(run-1) > 0.01 {
		t.Errorf("by heartbeats: %.2f cores in the system's queue, %.2f running", s, run)
	}
	w = play(2, robbedBy(3)) // the same by threads of the program
	for _, g := range w.m.gs {
		for i := range g.ivs {
			if v := &g.ivs[i]; v.state == states.Preempted {
				v.core = false
			}
		}
	}
	r = w.examine()
	if s, g := part(r, system), part(r, ofGo); math.Abs(s-1.5) > 0.01 || g != 0 {
		t.Errorf("crowded: %.2f cores in the system's queue, %.2f in Go's", s, g)
	}
}
