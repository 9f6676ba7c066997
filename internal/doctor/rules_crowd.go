package doctor

import (
	"github.com/scopeview/scopeview/internal/states"
)

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
