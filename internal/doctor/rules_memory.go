package doctor

import (
	"strings"

	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// collectorLimits are the thresholds of collector.
var collectorLimits = struct{ cpu, assist float64 }{
	cpu:    0.25, // of all running time
	assist: 0.05, // of the goroutines' time on CPUs
}

// collectorFacts describes the cost of the garbage collector.
type collectorFacts struct {
	cpu             float64 // part of all running time
	helping         float64 // part of the goroutines' own running time in which they assist
	made            float64 // part of the program's own time spent in allocating
	workers, assist int64   // ns
}

// collector: the garbage collector takes the cores. Share is its part of all running time,
// or, if larger, the part of the goroutines' running time in which they assist it. Gain is
// the reduction in a replay without it and without the time that the CPU profile shows in
// allocation: on idle cores the collector costs nothing.
func (m *model) collector() []Finding {
	x, scopes := m.collecting()
	if x.cpu < collectorLimits.cpu && x.helping < collectorLimits.assist || m.base == nil {
		return nil
	}
	x.made = m.allocating()
	f := Finding{Scopes: m.most(scopes, x.assist), Share: max(x.cpu, x.helping), Confidence: 0.8, savedWork: x.made, facts: x}
	f.weight = m.base.gain(removal{
		skip: func(_ *script, s *step) bool { return s.s == states.GC },
		scale: func(sc *script, _ *step) float64 {
			if sc.g.role == roleUser {
				return 1 - x.made
			}
			return 1
		},
	})
	f.FromNS, f.ToNS = m.where(func(yield func(a, b int64)) {
		for _, g := range m.gs {
			for i := range g.ivs {
				if v := &g.ivs[i]; v.core && (v.state == states.GC || g.role == roleCollector) {
					if g.role != roleCollector {
						f.worse(g, v.from, v.to)
					}
					yield(v.from, v.to)
				}
			}
		}
	})
	return []Finding{f}
}

// collecting returns the cost of the garbage collector, and the scopes in which goroutines
// assist it.
func (m *model) collecting() (x collectorFacts, scopes map[uint16]int64) {
	scopes = map[uint16]int64{}
	var ran int64
	for _, g := range m.gs {
		for i := range g.ivs {
			v := &g.ivs[i]
			d := v.to - v.from
			switch {
			case !v.core:
			case g.role == roleCollector && v.state != states.Preempted:
				x.workers += d
			case v.state == states.GC:
				x.assist += d
				g.scopesIn(v.from, v.to, scopes)
			case running(v.state):
				ran += d
			}
		}
	}
	x.cpu = float64(x.workers+x.assist) / float64(max(x.workers+x.assist+ran, 1))
	x.helping = float64(x.assist) / float64(max(x.assist+ran, 1))
	return x, scopes
}

// allocating returns the share of the program's samples that are in allocation, without the
// states' garbage collection; 0 if there are fewer than 30 samples.
func (m *model) allocating() float64 {
	n, all := 0, 0
	for _, s := range m.samples {
		if s.g.role == roleUser {
			all++
			if s.alloc {
				n++
			}
		}
	}
	if all < 30 {
		return 0
	}
	return float64(n) / float64(all)
}

// allocates reports whether a stack is in the allocator, and not assisting the collector.
func allocates(frames []*symbols.Frame) (yes bool) {
	for i := range frames {
		switch {
		case strings.HasPrefix(frames[i].Func, "runtime.gcAssist"):
			return false
		case strings.HasPrefix(frames[i].Func, "runtime.mallocgc"):
			yes = true
		}
	}
	return yes
}

// faultCost is the assumed maximum cost, in ns, of a page fault without I/O: it clears a
// page and maps it. Huge pages and virtual machines cost more; then the finding's share is
// too small.
const faultCost = 2500

// pageFaultsLimits are the thresholds of pageFaults.
var pageFaultsLimits = struct{ fault float64 }{
	fault: 0.05, // of the CPU time
}

// faultFacts has the number of page faults.
type faultFacts struct{ faults int64 }

// pageFaults: system time is spent on giving the program memory that it gives back, or had
// before; faults by which it has grown do not count. Share is the system's part of the CPU
// time, up to the maximum cost of the page faults. Gain is the reduction in a replay in
// which all runs are shorter by share; without a replay it is the faults' cost as a part of
// the core time.
func (m *model) pageFaults() []Finding {
	b := &m.beats
	cpu := b.user + b.system
	if cpu <= 0 {
		return nil
	}
	faults := b.minor + b.major
	cost := min(b.system, faults*faultCost)
	share := float64(cost) / float64(cpu)
	if share < pageFaultsLimits.fault || faults < 1000 {
		return nil
	}
	f := Finding{Share: share, Confidence: 0.7, FromNS: m.from, ToNS: m.to, weight: float64(cost) / (m.cores.Count * float64(b.over)), savedWork: share, facts: faultFacts{faults}}
	scopes := map[uint16]int64{}
	if m.base != nil {
		f.weight = m.base.gain(removal{scale: func(*script, *step) float64 { return 1 - share }})
		for g, v := range m.did() {
			if v.core {
				g.scopesIn(v.from, v.to, scopes)
			}
		}
	}
	f.Scopes = m.most(scopes, total(scopes))
	return []Finding{f}
}
