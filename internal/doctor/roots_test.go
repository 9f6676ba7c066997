package doctor

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
)

// requests plays a server whose requests take a lock, and a worker that now and then holds
// it for some time, by what compact does.
func requests(compact func(p *proc)) *world {
	return play(4, func(p *proc) {
		var mu *mutex
		p.parallel(3, func(p *proc, i int) {
			if mu == nil {
				mu = p.w.mutex("db.mu")
			}
			if i == 2 {
				for range 4 {
					p.sleep(20*ms, states.Sleep)
					p.scope("db.compact", func() {
						p.take(mu)
						compact(p)
						p.give(mu)
					})
				}
				return
			}
			for range 250 {
				p.scope("request", func() {
					p.run(100 * us)
					p.take(mu)
					p.run(20 * us)
					p.give(mu)
					p.run(50 * us)
				})
				p.sleep(200*us, states.Sleep)
			}
		})
	})
}

// TestSlowRoots: the slowest executions lead over the lock to what its holder does.
func TestSlowRoots(t *testing.T) {
	for _, c := range []struct {
		name    string
		compact func(p *proc)
		want    string
	}{
		{"asleep", func(p *proc) { p.sleep(5*ms, states.Sleep) }, "goroutine 4 holds lock db.mu, asleep, in db.compact"},
		{"working", func(p *proc) { p.run(5 * ms) }, "goroutine 4 holds lock db.mu, running, in db.compact"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := requests(c.compact).examine()
			for _, s := range r.Slow {
				if s.Of != "request" {
					continue
				}
				if s.All != 500 || s.Count != 5 || s.Longer < 2*ms {
					t.Errorf("%+v", s)
				}
				if x := s.Roots[0]; x.Text != c.want || x.Share < 0.9 || x.Object != "db.mu" || x.Name != "db.compact" || x.Goid != 4 {
					t.Errorf("%+v, want %q", x, c.want)
				}
				return
			}
			t.Errorf("request is not compared: %+v", r.Slow)
		})
	}
}

// TestSlowChain: the chain goes over two locks, and a channel.
func TestSlowChain(t *testing.T) {
	w := play(8, func(p *proc) {
		var inner, outer *mutex
		c := &pipe{room: 1}
		p.parallel(3, func(p *proc, i int) {
			if inner == nil {
				inner, outer = p.w.mutex("inner"), p.w.mutex("outer")
			}
			switch i {
			case 0:
				for range 200 {
					p.scope("request", func() {
						p.run(50 * us)
						p.take(outer)
						p.run(10 * us)
						p.give(outer)
						p.get(c)
					})
				}
			case 1:
				for range 2 {
					p.sleep(5*ms, states.Sleep)
					p.take(outer)
					p.take(inner)
					p.give(inner)
					p.give(outer)
				}
			case 2:
				for k := range 200 {
					if k == 50 || k == 120 {
						p.take(inner)
						p.scope("disk", func() { p.sleep(8*ms, states.Blocked) })
						p.give(inner)
					}
					p.run(20 * us)
					p.put(c)
				}
			}
		})
	})
	for _, s := range w.examine().Slow {
		if s.Of != "request" {
			continue
		}
		if x := s.Roots[0]; x.Name != "disk" || x.State != "blocked" || x.Share < 0.5 {
			t.Errorf("%+v", s)
		}
		return
	}
	t.Error("request is not compared")
}

// TestSlowIsSilent: where all executions are alike nothing is said of a root that they share.
func TestSlowIsSilent(t *testing.T) {
	w := play(2, func(p *proc) {
		for range 200 {
			p.scope("request", func() { p.run(100 * us) })
		}
	})
	if s := w.examine().Slow; len(s) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestSlowWords: names are marked, so that a page can put them into code.
func TestSlowWords(t *testing.T) {
	r := requests(func(p *proc) { p.sleep(5*ms, states.Sleep) }).examine()
	text := r.Slow[0].Roots[0].Words(func(name string) string { return "`" + name + "`" }, func(text string) string { return text })
	if !strings.Contains(text, "`db.mu`") || !strings.Contains(text, "`db.compact`") {
		t.Error(text)
	}
}
