package doctor

import (
	"github.com/scopeview/scopeview/internal/states"
)

// refill is the time, in ns, that a goroutine loses when it continues after others evicted
// its data from the cache. An estimate, for some hundred kilobytes from the next cache.
const refill = 15_000

// oversubscriptionLimits are the thresholds of oversubscription.
var oversubscriptionLimits = struct{ runnable, preempted, full, idle float64 }{
	runnable:  0.2,  // of the time of goroutines that could run
	preempted: 0.05, // of the time of goroutines that ran
	full:      0.9,  // of the cores: in use meanwhile
	idle:      0.1,  // of the cores: unused while more threads than CPUs take turns; ours
}

// threadsFacts describes a program with more threads than CPUs.
type threadsFacts struct {
	share  float64 // part of their time that is lost
	putOff bool    // the system preempts them; otherwise goroutines wait for a thread
}

// switchingFacts describes goroutines that are switched often.
type switchingFacts struct {
	wanting  float64 // mean number that want to run at once
	cuts     int     // switches from a goroutine that had a core to another one
	yielding bool    // most switches are yields
	ran      int64   // ns
}

// oversubscription: all cores are in use, more goroutines could run, and that has a cost:
// goroutines are switched before they have made progress, or the system shares the CPUs
// among more threads than there are. VTune checks only the first part; but a pool with more
// workers than cores, each of which runs for ten milliseconds, loses nothing, and would be
// blamed.
//
// Share is the part of the time of goroutines that could run in which they did not. The gain
// is unknown: a trace has no cache misses, and estimates were wrong by a factor of three in
// both directions. At stake is the possible cost of the switches (their number × refill), or
// the time in which threads of the program preempted each other.
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

// crowding sums how the program's goroutines shared the cores.
type crowding struct {
	ran, runnable, preempted int64
	cuts, yields             int              // times that a goroutine left a core, and of these by a yield
	yielded                  map[uint32]int64 // ns of the waits after a yield, by stack
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

// threadsLose returns the cost of more threads than CPUs: the part of the running time in
// which they were preempted, and the part of the cores left idle while they switched. Each
// is 0 if it is small.
func (m *model) threadsLose(x *crowding) (shared, idle float64) {
	limits := &oversubscriptionLimits
	if !m.crowded() {
		return 0, 0
	}
	if float64(x.preempted) > limits.preempted*float64(x.ran+x.preempted) {
		shared = float64(x.preempted) / float64(max(x.ran+x.preempted, 1))
	}
	// Neither other programs nor a limit took this.
	idle = (m.sweep.lost[partQueue] + m.sweep.lost[partSystem]) / float64(m.sweep.known)
	if v := m.starved; v != nil {
		idle -= v.Others + v.Quota + v.Hypervisor
	}
	if idle /= m.cores.Count; idle < limits.idle {
		idle = 0
	}
	return shared, idle
}
