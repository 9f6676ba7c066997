package doctor

import (
	"cmp"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/states"
)

// execution is one run of a scope: how long it was on a CPU, and how many goroutines ran
// meanwhile, on average, itself included.
type execution struct{ cpu, others float64 }

// inflation is what the executions of a name tell.
type inflation struct {
	name   uint16
	n      int
	slope  float64 // of log CPU on log of how many ran
	t      float64 // slope over its standard error
	factor float64 // CPU per execution with as many as ran at most, over that alone
	at     float64 // how many those are
	extra  float64 // ns of CPU beyond what they would take alone
	cpu    float64 // ns of CPU
}

// workInflationLimits say from which numbers on workInflation is told.
var workInflationLimits = struct{ slope, most, explained, wait, cpu, share, count float64 }{
	slope:     0.2,  // of log CPU on log of how many ran
	most:      5,    // of that: a cache line that goes to and fro costs twenty times what it does alone; nothing costs much more; ours
	explained: 0.25, // of the variance of log CPU, that it explains: else what the executions have to do differs most; ours
	wait:      0.05, // of its time, that its goroutine waits for locks and channels at most
	cpu:       0.9,  // of its time, that it is on a CPU at least
	share:     0.12, // of all that ran, that the inflation is; ours: machines that are shared inflate all work by some percent
	count:     10,   // executions, some of them with and some without others; ours
}

// inflationFacts are of a scope that costs more when others run.
type inflationFacts struct {
	*inflation
	memory    BandwidthPoint // of as many cores, if they were measured
	confirmed bool           // that memory explains it
}

// workInflation: what a scope costs rises with the number of goroutines that run. Share
// is that part of all that ran, by the law cpu ~ ranⁿ with the exponent of the
// regression. Gain is what a replay takes less in which the scope costs what it does
// alone.
//
// Scopes lie in others, whose CPU time rises with them: the one with the largest share is
// told.
func (m *model) workInflation() []Finding {
	all := float64(max(m.sweep.ran(), 1))
	x := m.worstInflation(all)
	if x == nil {
		return nil
	}
	f := Finding{Scopes: []string{m.name(x.name)}, Share: x.extra / all, Confidence: 0.75, spared: x.extra / m.coreTime()}
	f.weight = f.Share
	if m.base != nil {
		rest := 1 - x.extra/x.cpu
		f.weight = m.base.gain(without{lock: -1, scale: func(_ *script, s *step) float64 {
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

// worstInflation is the name that costs most more than it would alone; nil: none does by
// enough of all that ran.
func (m *model) worstInflation(all float64) (worst *inflation) {
	limits := &workInflationLimits
	for _, x := range m.inflations() {
		critical := 2.576 + 6.3/float64(x.n-2) // of Student's distribution, p = 0.01 on two sides
		if x.slope < limits.slope || x.slope > limits.most || x.t < critical || x.extra < limits.share*all {
			continue
		}
		if worst == nil || x.extra > worst.extra {
			worst = &x
		}
	}
	return worst
}

// explains finds what the machine's memory does with so many cores, and reports whether
// that is how the work is inflated: memory has to be slower per core there, clearly more
// than the cores are, and the work not inflated much more than that.
func (b *Bandwidth) explains(cores, factor float64) (p BandwidthPoint, confirmed bool) {
	for _, x := range b.Points {
		if p.Cores == 0 || math.Abs(float64(x.Cores)-cores) < math.Abs(float64(p.Cores)-cores) {
			p = x
		}
	}
	return p, p.Cores >= 2 && p.Memory >= 1.2*p.Compute && factor >= 1.1*p.Compute && factor <= 1.25*p.Memory
}

// inflations are the names with enough executions of known CPU time. Of names that wait
// for locks and channels none is taken: who spins before he waits takes more CPU time when
// others run, and so would be left whoever happened to meet nobody.
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

// waitedIn is how long a scope's goroutine waited for locks and channels in it, and how
// long other programs had its CPU.
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

// regress fits log CPU on log of how many ran. There have to be executions with few
// others and with many: ok is false without.
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

// used is the CPU time that the program used, as far as is known: of the process, or of
// its goroutines.
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

// refill is what a goroutine loses when it goes on after others: what it worked with is
// in the cache no more. An estimate, of some hundred kilobytes from the next cache.
const refill = 15_000

// oversubscriptionLimits say from which numbers on oversubscription is told.
var oversubscriptionLimits = struct{ runnable, preempted, full, idle float64 }{
	runnable:  0.2,  // of the time of those who could run
	preempted: 0.05, // of the time of those who ran
	full:      0.9,  // of the cores, that are in use meanwhile
	idle:      0.1,  // of the cores, that are not in use while more threads than CPUs take turns; ours
}

// threadsFacts are of more threads than CPUs.
type threadsFacts struct {
	share  float64 // of their time that is lost
	putOff bool    // by the system, while they ran; else while goroutines wait for a thread
}

// switchingFacts are of goroutines that are switched often.
type switchingFacts struct {
	wanting  float64 // how many want to run at once
	cuts     int     // how often one is switched for another that was on a core
	yielding bool    // most by letting others run by itself
	ran      int64   // ns
}

// oversubscription: all cores are in use, others could run too, and that costs something:
// goroutines are switched before they have got anywhere, or the system shares out the
// CPUs among more threads than there are. VTune asks for the first part alone; but a pool
// with more workers than cores, each of which runs its ten milliseconds, loses nothing by
// that, and would be blamed.
//
// Share is that part of the time of those who could run that they were not let run. The
// gain is unknown: what is out of the cache is not in a trace, and estimates were wrong by
// three times both ways. What is at stake is what the switches may cost (their number ×
// refill), or the time that threads were put off their CPU for others of ours.
func (m *model) oversubscription() []Finding {
	limits := &oversubscriptionLimits
	x := m.crowding()
	full := float64(x.ran) / m.coreTime()
	wanted := x.ran + x.runnable + x.preempted
	share := float64(x.runnable+x.preempted) / float64(max(wanted, 1))
	shared, idle := m.threadsLose(&x)
	if share < limits.runnable || idle == 0 && full < limits.full && float64(x.ran+x.preempted)/m.coreTime() < limits.full {
		return nil
	}
	switching := min(float64(x.cuts)*refill/m.coreTime(), 0.5)
	f := Finding{Share: share, Gain: unknownGain, weight: max(switching, shared), Confidence: 0.6, FromNS: m.from, ToNS: m.to}
	switch {
	case idle > shared:
		f.weight, f.facts = idle, threadsFacts{share: idle}
	case shared > switching:
		f.facts = threadsFacts{share: shared, putOff: true}
	default:
		f.Object = m.place(longest(x.yielded))
		names := map[uint16]int64{}
		for g := range m.users() {
			g.scopesIn(m.from, m.to, names)
		}
		f.Scopes = m.most(names, total(names))
		f.facts = switchingFacts{float64(wanted) / float64(m.span()), x.cuts, 2*x.yields > x.cuts, x.ran}
	}
	return []Finding{f}
}

// crowding is how the program's goroutines shared the cores.
type crowding struct {
	ran, runnable, preempted int64
	cuts, yields             int              // how often one had to leave a core, and did so by itself
	yielded                  map[uint32]int64 // ns that they waited then, by stack
}

func (m *model) crowding() crowding {
	x := crowding{yielded: map[uint32]int64{}}
	for g := range m.users() {
		for i := range g.ivs {
			v := &g.ivs[i]
			d := v.to - v.from
			switch {
			case v.state == states.Preempted:
				x.preempted += d
			case v.core:
				x.ran += d
			case v.state == states.Runnable:
				x.runnable += d
				if i == 0 || !g.ivs[i-1].core || d <= 1000 {
					continue
				}
				x.cuts++
				if v.yield {
					x.yields++
					x.yielded[v.stack] += d
				}
			}
		}
	}
	return x
}

// threadsLose is what more threads than CPUs cost: the part of the running time that the
// system put them off their CPU, and of the cores that they let go by while they switched.
// Each is 0 where it is little.
func (m *model) threadsLose(x *crowding) (shared, idle float64) {
	limits := &oversubscriptionLimits
	if !m.crowded() {
		return 0, 0
	}
	if float64(x.preempted) > limits.preempted*float64(x.ran+x.preempted) {
		shared = float64(x.preempted) / float64(max(x.ran+x.preempted, 1))
	}
	// Neither others had this, nor a limit forbade it.
	idle = (m.sweep.lost[partQueue] + m.sweep.lost[partSystem]) / float64(m.sweep.known)
	if v := m.starved; v != nil {
		idle -= v.Others + v.Quota + v.Hypervisor
	}
	if idle /= m.cores.Count; idle < limits.idle {
		idle = 0
	}
	return shared, idle
}
