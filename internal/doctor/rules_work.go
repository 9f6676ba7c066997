package doctor

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/analysis"
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

// workInflationLimits say from which numbers on WorkInflation is told.
var workInflationLimits = struct{ slope, most, explained, wait, cpu, share, count float64 }{
	slope:     0.2,  // of log CPU on log of how many ran
	most:      5,    // of that: a cache line that goes to and fro costs twenty times what it does alone; nothing costs much more; ours
	explained: 0.25, // of the variance of log CPU, that it explains: else what the executions have to do differs most; ours
	wait:      0.05, // of its time, that its goroutine waits for locks and channels at most
	cpu:       0.9,  // of its time, that it is on a CPU at least
	share:     0.12, // of all that ran, that the inflation is; ours: machines that are shared inflate all work by some percent
	count:     10,   // executions, some of them with and some without others; ours
}

// workInflation: what a scope costs rises with the number of goroutines that run. Share
// is that part of all that ran, by the law cpu ~ ranⁿ with the exponent of the
// regression. Gain is what a replay takes less in which the scope costs what it does
// alone.
//
// Scopes lie in others, whose CPU time rises with them: the one with the largest share is
// told.
func workInflation(m *model) []Finding {
	var worst *inflation
	all := float64(m.sweepRan())
	for _, x := range m.inflations() {
		critical := 2.576 + 6.3/float64(x.n-2) // of Student's distribution, p = 0.01 on two sides
		if x.slope < workInflationLimits.slope || x.slope > workInflationLimits.most || x.t < critical || x.extra < workInflationLimits.share*all {
			continue
		}
		if worst == nil || x.extra > worst.extra {
			worst = &x
		}
	}
	if worst == nil {
		return nil
	}
	x := worst
	f := Finding{Scopes: []string{m.name(x.name)}, Share: x.extra / all, Confidence: 0.75, FromNS: m.from, ToNS: m.to}
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
	name := analysis.Show(m.name(x.name))
	f.Evidence = []string{fmt.Sprintf("over %s executions the CPU time grows with the number of running goroutines to the power of %.2f (%.1f standard errors from 0)", analysis.Thousands(int64(x.n)), x.slope, x.t)}
	causes := "Three things do that: memory that can't be moved faster (scopeview membench tells whether it is that), cache lines that several goroutines write, and cores that are threads of one core."
	if b := m.bandwidth; b != nil {
		text, confirmed := b.explains(x.at, x.factor)
		f.Evidence = append(f.Evidence, text)
		if !confirmed {
			f.Evidence[len(f.Evidence)-1] += ": memory alone does not explain it"
		} else {
			f.Verdict, f.Confidence = MemoryBandwidth, 0.85
			causes = "It waits for memory, which " + plainCores(x.at) + " saturate."
		}
	}
	f.Text = fmt.Sprintf("%s takes %.2f times the CPU time when %.1f goroutines run at once: %s of all that ran is that. %s",
		name, x.factor, x.at, analysis.Percent(f.Share), causes)
	f.mend, f.spared = "Without it", x.extra/m.coreTime()
	return []Finding{f}
}

func plainCores(n float64) string { return fmt.Sprintf("%.0f cores", n) }

// explains tells what the machine's memory does with so many cores, and whether that is
// how the work is inflated: memory has to be slower per core there, clearly more than the
// cores are, and the work not inflated much more than that.
func (b *Bandwidth) explains(cores, factor float64) (text string, confirmed bool) {
	var p BandwidthPoint
	for _, x := range b.Points {
		if p.Cores == 0 || math.Abs(float64(x.Cores)-cores) < math.Abs(float64(p.Cores)-cores) {
			p = x
		}
	}
	if p.Cores < 2 {
		return "scopeview membench did not measure several cores", false
	}
	text = fmt.Sprintf("by scopeview membench, %d cores at once take %.2f times as long to move the same memory, and %.2f times to compute", p.Cores, p.Memory, p.Compute)
	confirmed = p.Memory >= 1.2*p.Compute && factor >= 1.1*p.Compute && factor <= 1.25*p.Memory
	return text, confirmed
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
	for _, g := range m.gs {
		if g.role != roleUser {
			continue
		}
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

func (m *model) sweepRan() int64 { return max(m.sweep.ran(), 1) }

// goroutineCost is what it takes to make a goroutine, switch to it and back, and end it:
// 0.6 to 1 µs on the machines where this was measured, with the execution trace on. Where
// another one waits until it is done, that costs handoffCost besides: 1.8 µs together.
const goroutineCost = 800

// makers are the goroutines that one function makes, in however many lines, as one does
// that divides its work.
type makers struct {
	gs     []*gor
	median int64 // of what they ran
	joins  int64 // waits of others that one of them ended
}

func (k *makers) cost() int64 { return int64(len(k.gs))*goroutineCost + k.joins*handoffCost }

// tooFineLimits say from which numbers on TooFine is told.
var tooFineLimits = struct{ task, overhead float64 }{
	task:     10,  // times what a goroutine costs, that the median one runs
	overhead: 0.1, // of the core time
}

// tooFine: so many goroutines are made for so little work each that making them, and
// waiting for them, costs more than a tenth of the CPU time. Both are asked for, short work
// and what it costs: short goroutines that are rare cost nothing. Share is what they cost,
// of the CPU time that the program used; gain is what they cost of the cores that it used.
// Where no function makes so many, it may be all of them.
func tooFine(m *model) (fs []Finding) {
	by := map[string]*makers{}
	var names []string
	of := map[*gor]*makers{}
	for _, g := range m.gs {
		if g.role == roleUser && g.created && g.ended {
			name := ""
			if f := m.frame(g.site); f != nil {
				name = f.Func
			}
			k := by[name]
			if k == nil {
				k = &makers{}
				by[name] = k
				names = append(names, name)
			}
			k.gs = append(k.gs, g)
			of[g] = k
		}
	}
	for _, g := range m.gs {
		for i := range g.ivs {
			if v := &g.ivs[i]; v.by != 0 && g.role == roleUser && waits(v.state) {
				if k := of[m.byID[v.by]]; k != nil {
					k.joins++
				}
			}
		}
	}
	used := m.used()
	tell := func(k *makers, places int) {
		share := float64(k.cost()) / used
		if share < tooFineLimits.overhead {
			return
		}
		times := map[uint16]int64{}
		for i, g := range k.gs {
			if i%(len(k.gs)/1000+1) == 0 {
				g.scopesIn(g.from, g.to, times)
			}
		}
		weight := float64(k.cost()) / max(used, float64(m.span()))
		f := Finding{Object: m.place(k.gs[0].site), Scopes: m.most(times, total(times)), Share: share, weight: weight, spared: weight, Confidence: 0.8}
		f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
			for _, g := range k.gs {
				yield(g.from, g.to)
			}
		})
		in := orPlace(f.Object)
		if places > 1 {
			in += fmt.Sprintf(" and %s more", analysis.Plural(int64(places-1), "place"))
		}
		each := goroutineCost + k.joins*handoffCost/int64(len(k.gs))
		f.Text = fmt.Sprintf("%s goroutines are made in %s for %s of work each: to make them, switch to them and wait for them takes %s of the CPU time.",
			analysis.Thousands(int64(len(k.gs))), in, analysis.Humane(k.median), analysis.Percent(share))
		f.mend = "With more work for each"
		f.Evidence = []string{fmt.Sprintf("half of them run for less than %s; one costs about %s to make, to switch to, to end and to be waited for", analysis.Humane(k.median), analysis.Humane(each))}
		fs = append(fs, f)
	}
	var fine []*makers
	for _, name := range names {
		k := by[name]
		ran := make([]int64, len(k.gs))
		for i, g := range k.gs {
			ran[i] = g.ran(g.from, g.to)
		}
		slices.Sort(ran)
		if k.median = ran[len(ran)/2]; float64(k.median) <= tooFineLimits.task*goroutineCost {
			fine = append(fine, k)
			tell(k, 1)
		}
	}
	if len(fs) == 0 && len(fine) > 1 {
		slices.SortStableFunc(fine, func(a, b *makers) int { return cmp.Compare(len(b.gs), len(a.gs)) })
		all := &makers{}
		for _, k := range fine {
			all.gs, all.median, all.joins = append(all.gs, k.gs...), max(all.median, k.median), all.joins+k.joins
		}
		tell(all, len(fine))
	}
	return fs
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
	if b := &m.beats; b.over > 0 && b.user >= 0 && b.system >= 0 {
		used = max(used, float64(b.user+b.system)/float64(b.over)*float64(m.span()))
	}
	return max(min(used, m.coreTime()), 1)
}

func orPlace(object string) string {
	if object == "" {
		return "a place that is not known"
	}
	return object
}

// refill is what a goroutine loses when it goes on after others: what it worked with is
// in the cache no more. An estimate, of some hundred kilobytes from the next cache.
const refill = 15_000

const fewerThreads = "With GOMAXPROCS as the CPUs it might be shorter; by how much is not to be told from a trace"

// oversubscriptionLimits say from which numbers on Oversubscription is told.
var oversubscriptionLimits = struct{ runnable, preempted, full, idle float64 }{
	runnable:  0.2,  // of the time of those who could run
	preempted: 0.05, // of the time of those who ran
	full:      0.9,  // of the cores, that are in use meanwhile
	idle:      0.1,  // of the cores, that are not in use while more threads than CPUs take turns; ours
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
func oversubscription(m *model) []Finding {
	var ran, runnable, preempted int64
	cuts, yields := 0, 0
	where := map[uint32]int64{}
	for _, g := range m.gs {
		if g.role != roleUser {
			continue
		}
		for i := range g.ivs {
			v := &g.ivs[i]
			d := v.to - v.from
			switch {
			case v.state == states.Preempted:
				preempted += d
			case v.core:
				ran += d
			case v.state == states.Runnable:
				runnable += d
				if i > 0 && g.ivs[i-1].core && d > 1000 {
					cuts++
					if v.yield {
						yields++
						where[v.stack] += d
					}
				}
			}
		}
	}
	full := float64(ran) / m.coreTime()
	share := float64(runnable+preempted) / float64(max(ran+runnable+preempted, 1))
	shared, idle := 0.0, 0.0
	if m.crowded() {
		if float64(preempted) > oversubscriptionLimits.preempted*float64(ran+preempted) {
			shared = float64(preempted) / float64(max(ran+preempted, 1))
		}
		// What neither others had, nor a limit allowed, they let go by while they switched.
		idle = (m.sweep.lost[partQueue] + m.sweep.lost[partSystem]) / float64(m.sweep.known)
		if v := m.starved; v != nil {
			idle -= v.Others + v.Quota + v.Hypervisor
		}
		if idle = idle / m.cores.Count; idle < oversubscriptionLimits.idle {
			idle = 0
		}
	}
	if share < oversubscriptionLimits.runnable || idle == 0 && full < oversubscriptionLimits.full && float64(ran+preempted)/m.coreTime() < oversubscriptionLimits.full {
		return nil
	}
	switching := min(float64(cuts)*refill/m.coreTime(), 0.5)
	if idle > shared {
		f := Finding{Share: share, Gain: Unknown, weight: idle, Confidence: 0.6, FromNS: m.from, ToNS: m.to}
		f.Text = fmt.Sprintf("There are more threads than CPUs: GOMAXPROCS is %d and the program may use %s (%s), and %s of their time goes by while goroutines want to run and wait for a thread that has a CPU.",
			m.procs, cores(m), m.cores.Why, analysis.Percent(idle))
		f.mend = fewerThreads
		return []Finding{f}
	}
	f := Finding{Share: share, Gain: Unknown, weight: max(switching, shared), Confidence: 0.6, FromNS: m.from, ToNS: m.to}
	wanting := float64(ran+runnable+preempted) / float64(m.span())
	if shared > switching {
		f.Text = fmt.Sprintf("There are more threads than CPUs: GOMAXPROCS is %d and the program may use %s (%s), so that the system put running goroutines off their CPU %s of their time.",
			m.procs, cores(m), m.cores.Why, analysis.Percent(shared))
		f.mend = fewerThreads
		return []Finding{f}
	}
	var most uint32
	for s, d := range where {
		if d > where[most] {
			most = s
		}
	}
	f.Object = m.place(most)
	names := map[uint16]int64{}
	for _, g := range m.gs {
		if g.role == roleUser {
			g.scopesIn(m.from, m.to, names)
		}
	}
	f.Scopes = m.most(names, total(names))
	by := ""
	if 2*yields > cuts {
		by = ", most by letting others run by itself"
		if f.Object != "" {
			by += " in " + f.Object
		}
	}
	f.Text = fmt.Sprintf("%.1f goroutines want to run on %s at once, and %s of their time they may not, in %s. They are switched %s times in a second%s, and each may find its data out of the cache.",
		wanting, cores(m), analysis.Percent(share), quoted(f.Scopes), analysis.Thousands(int64(float64(cuts)*1e9/float64(m.span()))), by)
	f.mend = "With as many as cores it might be shorter; by how much is not to be told from a trace, which does not have what the caches held"
	f.Evidence = []string{fmt.Sprintf("they run for %s at a time; a switch is taken to cost %s of reading data into the cache again, which depends on the program", analysis.Humane(ran/int64(max(cuts, 1))), analysis.Humane(refill))}
	return []Finding{f}
}
