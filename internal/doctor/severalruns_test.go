package doctor

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
)

// TestLimitsOfOneRun: if nothing is found, and cores are idle or the system takes much
// of the CPU time, the report recommends several runs.
func TestLimitsOfOneRun(t *testing.T) {
	server := func(wait int64) func(p *proc) {
		return func(p *proc) {
			p.parallel(2, func(p *proc, i int) {
				for range 100 {
					p.sleep(wait, states.Network)
					p.run(100 * us)
				}
			})
		}
	}
	for _, c := range []struct {
		name   string
		wait   int64
		system float64 // part of the CPU time
		want   string
	}{
		{"busy", 10 * us, 0.05, ""},
		{"idle", 900 * us, 0.05, "the program's goroutines use only 10% of the cores: it may"},
		{"in the kernel", 10 * us, 0.4, "the system takes 40% of the program's CPU time: it may"},
		{"both", 900 * us, 0.4, "of the cores, and the system takes 40%"},
	} {
		w := play(2, server(c.wait))
		cpu := 0.0
		for _, g := range w.m.gs {
			cpu += float64(g.onCPU(0, w.now))
		}
		w.m.beats.over, w.m.beats.minor = w.now, 0
		w.m.beats.system = int64(c.system * cpu)
		w.m.beats.user = int64(cpu) - w.m.beats.system
		r := w.examine()
		notes := strings.Join(r.Notes, "\n")
		if len(r.Findings) > 0 || c.want == "" && notes != "" || !strings.Contains(notes, c.want) || c.want != "" && !strings.Contains(notes, "scopeview scale") {
			t.Errorf("%s: %q%s", c.name, notes, list(r))
		}
	}
	if w := play(1, server(ms)); w.examine().Notes != nil && len(w.examine().Notes) > 0 {
		t.Error("on one core there are no fewer")
	}
}

// TestTooFineOfSeveralLines: a function that divides its work starts its goroutines in two
// places, neither of which starts enough to be reported alone.
func TestTooFineOfSeveralLines(t *testing.T) {
	w := play(2, func(p *proc) {
		p.parallel(2, func(p *proc, i int) {
			for n := range 2000 {
				p.run(6 * us)
				place := "left"
				if n%2 == 1 {
					place = "right"
				}
				p.w.make(p, place, func(q *proc) { q.run(us) })
			}
		})
	})
	for i, place := range w.where {
		if place == "right" {
			w.where[i] = "left"
		}
	}
	if f := found(w.examine(), tooFine); f == nil || !strings.Contains(f.Text, "4,000 goroutines are created in main.left") {
		t.Errorf("%+v", f)
	}
}
