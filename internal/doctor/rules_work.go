package doctor

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// execution is one execution of a scope: its CPU time in ns, and the mean number of
// goroutines that ran meanwhile, including its own.
type execution struct{ cpu, others float64 }

// inflation is the result of the regression over a name's executions.
type inflation struct {
	name   uint16
	n      int
	slope  float64 // of log CPU over log of the number that ran
	t      float64 // slope over its standard error
	factor float64 // CPU per execution with the largest number that ran, over that alone
	at     float64 // that largest number
	extra  float64 // ns of CPU beyond those of running alone
	cpu    float64 // ns of CPU
}

// workInflationLimits are the thresholds of workInflation.
var workInflationLimits = struct{ slope, most, explained, wait, cpu, share, count float64 }{
	slope:     0.2,  // of log CPU over log of the number that ran
	most:      5,    // maximum slope: a cache line that moves between cores costs twenty times what it does alone; nothing costs much more; ours
	explained: 0.25, // of the variance of log CPU; below it the executions differ mostly in their work; ours
	wait:      0.05, // maximum of its time that its goroutine waits for locks and channels
	cpu:       0.9,  // minimum of its time that it is on a CPU
	share:     0.12, // of all running time: the inflation; ours: shared machines inflate all work by some percent
	count:     10,   // executions, some of them with and some without others; ours
}

// inflationFacts describes a scope that costs more when others run.
type inflationFacts struct {
	*inflation
	memory    BandwidthPoint // measured with as many cores; zero: not measured
	confirmed bool           // memory bandwidth explains it
}

// workInflation: the CPU time of a scope's executions rises with the number of goroutines
// that run. Share is the excess as a part of all running time, by the law cpu ~ ranⁿ with
// the exponent of the regression. Gain is the reduction in a replay in which the scope costs
// what it does alone.
//
// The CPU time of enclosing scopes rises too: only the one with the largest excess is
// reported.
func (m *model) workInflation() []Finding {
	all := float64(max(m.sweep.ran(), 1))
	x := m.worstInflation(all)
	if x == nil {
		return nil
	}
	f := Finding{Scopes: []string{m.name(x.name)}, Share: x.extra / all, Confidence: 0.75, savedWork: x.extra / m.coreTime()}
	f.weight = f.Share
	if m.base != nil {
		rest := 1 - x.extra/x.cpu
		f.weight = m.base.gain(removal{scale: func(_ *script, s *step) float64 {
			if s.name == int32(x.name) {
				return rest
			}
			return 1
		}})
	}
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, g := range m.gs {
			for _, s := range g.spans {
				if s.name == x.name {
					yield(s.from, s.to)
				}
			}
		}
	})
	facts := inflationFacts{inflation: x}
	if m.bandwidth != nil {
		facts.memory, facts.confirmed = m.bandwidth.explains(x.at, x.factor)
	}
	if facts.confirmed {
		f.Verdict, f.Confidence = memoryBandwidth, 0.85
	}
	f.facts = facts
	return []Finding{f}
}

// worstInflation returns the name with the largest excess over running alone; nil if none
// reaches the limits.
func (m *model) worstInflation(all float64) (worst *inflation) {
	limits := &workInflationLimits
	for _, x := range m.inflations() {
		critical := 2.576 + 6.3/float64(x.n-2) // Student's t distribution, p = 0.01, two-sided
		if x.slope < limits.slope || x.slope > limits.most || x.t < critical || x.extra < limits.share*all {
			continue
		}
		if worst == nil || x.extra > worst.extra {
			worst = &x
		}
	}
	return worst
}

// explains returns the measurement with the nearest number of cores, and reports whether
// memory bandwidth explains the inflation: memory must be slower per core there, clearly
// more than computing is, and the work not inflated much more than that.
func (b *Bandwidth) explains(cores, factor float64) (p BandwidthPoint, confirmed bool) {
	for _, x := range b.Points {
		if p.Cores == 0 || math.Abs(float64(x.Cores)-cores) < math.Abs(float64(p.Cores)-cores) {
			p = x
		}
	}
	return p, p.Cores >= 2 && p.Memory >= 1.2*p.Compute && factor >= 1.1*p.Compute && factor <= 1.25*p.Memory
}

// inflations returns the names with enough executions of known CPU time. It skips names that
// wait for locks and channels: a goroutine that spins before it waits takes more CPU time
// when others run, and the remaining executions would be those that happened to meet nobody.
func (m *model) inflations() (list []inflation) {
	type seen struct {
		xs           []execution
		time, waited int64
	}
	by := map[uint16]*seen{}
	for g := range m.users() {
		for i := range g.spans {
			s := &g.spans[i]
			d := s.to - s.from
			if s.cpu <= 0 || d <= 0 {
				continue
			}
			x := by[s.name]
			if x == nil {
				x = &seen{}
				by[s.name] = x
			}
			x.time += d
			waited, taken := m.waitedIn(g, s)
			x.waited += waited
			if float64(s.cpu) >= workInflationLimits.cpu*float64(d-taken) {
				x.xs = append(x.xs, execution{float64(s.cpu), max(m.sweep.mean(s.from, s.to), 1)})
			}
		}
	}
	for name, x := range by {
		if float64(x.waited) > workInflationLimits.wait*float64(x.time) {
			continue
		}
		if r, ok := regress(x.xs); ok {
			r.name = name
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b inflation) int { return cmp.Compare(a.name, b.name) })
	return list
}

// waitedIn returns the ns that a scope's goroutine waited in it for locks and channels, and
// the ns that other programs had its CPU.
func (m *model) waitedIn(g *gor, s *span) (waited, taken int64) {
	for i := g.at(s.from); i < len(g.ivs) && g.ivs[i].from < s.to; i++ {
		v := &g.ivs[i]
		switch d := min(v.to, s.to) - max(v.from, s.from); {
		case v.lock >= 0 || v.state == states.Lock || handing(v.state):
			waited += d
		case v.state == states.Preempted:
			taken += d
		}
	}
	return waited, taken
}

// regress fits log CPU over log of the number that ran. ok is false unless some executions
// ran with few others and some with many.
func regress(xs []execution) (r inflation, ok bool) {
	n := float64(len(xs))
	if n < workInflationLimits.count {
		return r, false
	}
	var sx, sy float64
	lo, hi := math.Inf(1), 0.0
	for _, x := range xs {
		sx, sy = sx+math.Log(x.others), sy+math.Log(x.cpu)
		lo, hi = min(lo, x.others), max(hi, x.others)
	}
	mx, my := sx/n, sy/n
	var xx, xy, yy float64
	few, many := 0, 0
	for _, x := range xs {
		dx, dy := math.Log(x.others)-mx, math.Log(x.cpu)-my
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
		if x.others < lo*math.Sqrt(hi/lo) {
			few++
		} else {
			many++
		}
	}
	if hi < 1.5*lo || few < 3 || many < 3 || yy <= 0 || xy*xy < workInflationLimits.explained*xx*yy {
		return r, false
	}
	r.n, r.slope = len(xs), xy/xx
	rest := max(yy-r.slope*xy, 1e-12*n)
	r.t = r.slope / math.Sqrt(rest/(n-2)/xx)
	r.at = hi
	r.factor = math.Pow(hi/lo, r.slope)
	for _, x := range xs {
		r.cpu += x.cpu
		r.extra += x.cpu * (1 - math.Pow(x.others/lo, -r.slope))
	}
	return r, true
}

// used returns the known CPU time of the program in ns: the maximum of the process's and its
// goroutines'.
func (m *model) used() float64 {
	var ran int64
	for _, g := range m.gs {
		for i := range g.ivs {
			if v := &g.ivs[i]; v.core && v.state != states.Preempted {
				ran += v.to - v.from
			}
		}
	}
	used := float64(ran)
	if b := &m.beats; b.cpuKnown() {
		used = max(used, float64(b.user+b.system)/float64(b.over)*float64(m.span()))
	}
	return max(min(used, m.coreTime()), 1)
}
