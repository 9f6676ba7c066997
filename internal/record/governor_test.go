//go:build !scope_off

package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
)

// governedProgram simulates a program that fully uses one CPU, and its recording, with given costs
// of the parts.
type governedProgram struct {
	governor
	began, now time.Time
	spent      [3]float64 // ns
	costs      [3]float64 // share of the CPU time while on
	rest       float64    // share of what can't be switched off
	on         [3]bool
	reasons    []string
	all        float64 // ns, of the parts
	after      []func()
	early      bool // a part was switched while the governor's CPU time was measured
}

var partNames = []string{"switches", "states", "samples"}

func govern(share float64) *governedProgram {
	p := &governedProgram{governor: governor{share: share, thin: 1}, began: time.Unix(1e9, 0), on: [3]bool{true, true, true}}
	p.now = p.began
	p.later = func(f func()) { p.after = append(p.after, f) }
	for i, most := range []float64{1. / 6, 1. / 3, 1. / 4} {
		p.parts = append(p.parts, &governed{Part: collect.Part{
			Name: partNames[i], Most: most,
			Spent: func() (int64, bool) { return int64(p.spent[i]), p.on[i] },
			Switch: func(on bool, why string) {
				p.on[i] = on
				p.reasons = append(p.reasons, strings.TrimSpace(fmt.Sprintf("%s %v %s", partNames[i], on, why)))
			},
		}})
	}
	return p
}

// run simulates d, with a tick every 50 ms.
func (p *governedProgram) run(d time.Duration) {
	const tick = 50 * time.Millisecond
	for range d / tick {
		p.now = p.now.Add(tick)
		cost := p.governedProgramCost(float64(tick))
		keep := math.Exp(-float64(tick) / float64(lately))
		p.look(keep, float64(tick))
		p.used = p.used*keep + float64(tick) - cost
		p.governor.rest = p.governor.rest*keep + p.rest*float64(tick)
		p.owed += cost - known*p.share*(float64(tick)-cost)
		reasons := len(p.reasons)
		p.decide(p.now, p.began)
		p.early = p.early || len(p.reasons) > reasons
		for _, f := range p.after {
			f()
		}
		p.after = nil
	}
}

// TestSwitchesLater: the governor switches nothing while its CPU time is measured. Ending Go's
// execution trace waits, and the waiting thread runs the program.
func TestSwitchesLater(t *testing.T) {
	p := govern(0.03)
	p.costs = [3]float64{0.5, 0.5, 0.5}
	p.run(time.Second)
	if p.early || len(p.reasons) == 0 {
		t.Errorf("switched early: %v; reasons: %v", p.early, p.reasons)
	}
}

func (p *governedProgram) governedProgramCost(tick float64) (cost float64) {
	for i := range p.spent {
		if p.on[i] {
			p.spent[i] += p.costs[i] * tick
			cost += p.costs[i] * tick
		}
	}
	p.all += cost
	return cost + p.rest*tick
}

// TestG46Governor: parts of a recording have various costs, with a budget of 3 % of which half is
// for known costs: the governor switches off what it must, in the documented order, and no more.
func TestG46Governor(t *testing.T) {
	for _, c := range []struct {
		name  string
		costs [3]float64
		rest  float64
		on    [3]bool
	}{
		{"all fit", [3]float64{0.002, 0.004, 0.002}, 0.002, [3]bool{true, true, true}},
		{"switches have more than their part", [3]float64{0.01, 0.002, 0.002}, 0, [3]bool{false, true, true}},
		{"states have more than theirs", [3]float64{0.001, 0.05, 0.002}, 0, [3]bool{true, false, true}},
		{"samples have", [3]float64{0.001, 0.004, 0.02}, 0, [3]bool{true, true, false}},
		{"each fits, the sum does not: the first goes", [3]float64{0.004, 0.008, 0.002}, 0.002, [3]bool{false, true, true}},
		{"two go", [3]float64{0.004, 0.008, 0.002}, 0.008, [3]bool{false, false, true}},
		{"all go", [3]float64{0.004, 0.008, 0.004}, 0.03, [3]bool{false, false, false}},
		{"what takes nothing stays", [3]float64{0, 0.008, 0.004}, 0.03, [3]bool{true, false, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := govern(0.03)
			p.costs, p.rest = c.costs, c.rest
			p.run(1500 * time.Millisecond)
			if p.on != c.on {
				t.Errorf("on are %v, want %v; reasons %q", p.on, c.on, p.reasons)
			}
			if thin := p.thin < 1; thin != (c.rest > 0.02) {
				t.Errorf("hooks have %v of their part", p.thin)
			}
			t.Logf("G46: %s: parts of %v and %v of the CPU time; after 1.5 s on: %v", c.name, c.costs, c.rest, p.on)
		})
	}
}

// TestG46GovernorReports: the reason for switching a part off has its cost, the time, and the budget
// that would keep it.
func TestG46GovernorReports(t *testing.T) {
	p := govern(0.03)
	p.costs = [3]float64{0, 0.05, 0}
	p.run(time.Second)
	want := []string{"states false it exceeded its share of the budget, 5.0% of the CPU time, and is off since 150ms; --budget 15% keeps it on"}
	if !slices.Equal(p.reasons, want) {
		t.Errorf("reasons %q, want %q", p.reasons, want)
	}
}

// TestG46GovernorKeepsTheSum: a part that costs too much for a minute is retried now and then, the
// less often the more it costs, and over the minute it takes no more than its share and one try.
// When it costs little it comes back, and stays.
func TestG46GovernorKeepsTheSum(t *testing.T) {
	p := govern(0.03)
	p.costs = [3]float64{0.1, 0.1, 0.1}
	p.run(time.Minute)
	if part := p.all / float64(time.Minute); part > known*p.share {
		t.Errorf("%.4f of the CPU time, want at most %v", part, known*p.share)
	}
	if n := len(p.reasons); n < 6 || n > 60 {
		t.Errorf("%d times switched: %q", n, p.reasons)
	}
	t.Logf("G46: three parts of 10 %% each take %.2f %% of a minute's CPU time with a budget of 3 %%, switched %d times", 100*p.all/float64(time.Minute), len(p.reasons))
	p.costs = [3]float64{0.001, 0.001, 0.001}
	p.run(2 * partHoldMost)
	if p.on != [3]bool{true, true, true} {
		t.Errorf("on are %v, though they cost little", p.on)
	}
	n := len(p.reasons)
	p.run(time.Minute)
	if len(p.reasons) != n {
		t.Errorf("they are switched again: %q", p.reasons[n:])
	}
}

// TestG46GovernorIsIdle: an idle program may still be observed, and with a budget of 100 % nothing
// is switched off.
func TestG46GovernorIsIdle(t *testing.T) {
	p := govern(1)
	p.costs, p.rest = [3]float64{0.3, 0.3, 0.3}, 0.1
	p.run(time.Minute)
	if len(p.reasons) != 0 {
		t.Errorf("with all of the CPU time: %q", p.reasons)
	}
	p = govern(0.03)
	for range 1000 {
		p.now = p.now.Add(tickMost)
		for i := range p.spent {
			p.spent[i] += 1e5 // per 400 ms
		}
		keep := math.Exp(-float64(tickMost) / float64(lately))
		p.look(keep, 1e6)
		p.used = p.used*keep + 1e6
		p.decide(p.now, p.began)
	}
	if len(p.reasons) != 0 {
		t.Errorf("idle: %q", p.reasons)
	}
}
