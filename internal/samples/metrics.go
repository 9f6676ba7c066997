package samples

import "github.com/scopeview/scopeview/internal/states"

// cpu is the metric of Go's CPU profile. Go takes a hundred samples in a second of a
// thread's CPU time, and does not record whether the thread was in the kernel.
var cpu = Metric{Name: "cpu", Title: "CPU time, user and system", Unit: Nanoseconds, Sampled: true}

// perSample is the CPU time, in ns, that a sample of the CPU profile represents.
const perSample = 10_000_000

// waits are the metrics of goroutines' waits, by state.
var waits = map[states.State]string{
	states.Preempted: "waits for a CPU, its thread put off by the system",
	states.TextFault: "waits for a page of instructions",
	states.DataFault: "waits for a page of memory",
	states.Stalled:   "waits in the kernel for something else",
	states.Runnable:  "waits for one of Go's processors",
	states.Syscall:   "system calls, on a CPU or not known",
	states.Blocked:   "system calls that waited",
	states.Lock:      "waits for a mutex",
	states.Join:      "waits in sync.WaitGroup",
	states.Cond:      "waits in sync.Cond",
	states.Channel:   "waits to send or to receive",
	states.Select:    "waits in select",
	states.Network:   "waits for the network",
	states.Sleep:     "sleeps",
	states.GC:        "waits for the garbage collector",
	states.Other:     "waits for something else",
}

// sums are the metrics that are sums of others, with the names of Sun's Analyzer where it
// has one: wait (Wait CPU Time) and ulock (User Lock Time).
var sums = []struct {
	metric Metric
	of     func(name string) bool
}{
	{Metric{Name: "wait", Title: "waits for a CPU or one of Go's processors"}, oneOf(states.Preempted, states.Runnable)},
	{Metric{Name: "ulock", Title: "waits for locks, and in sync"}, oneOf(states.Lock, states.Join, states.Cond)},
	{Metric{Name: "off", Title: "off-CPU time: all waits"}, off},
	{Metric{Name: "wall", Title: "CPU time, sampled, and all waits"}, func(name string) bool { return name == cpu.Name || off(name) }},
}

func oneOf(list ...states.State) func(string) bool {
	return func(name string) bool {
		for _, s := range list {
			if name == s.String() {
				return true
			}
		}
		return false
	}
}

// off reports whether a metric is of waits. System calls are not, as they may have had a
// CPU.
func off(name string) bool {
	for s := range waits {
		if s != states.Syscall && s.String() == name {
			return true
		}
	}
	return false
}

// addWaits adds all metrics of a Go execution trace, in their order.
func (s *sum) addWaits() (of [states.Count]int) {
	s.metric(cpu)
	for state := range states.Count {
		of[state] = -1
		if title, ok := waits[state]; ok {
			of[state] = s.metric(Metric{Name: state.String(), Title: title, Unit: Nanoseconds})
		}
	}
	for _, x := range sums {
		m := x.metric
		m.Unit = Nanoseconds
		for i := range s.p.Metrics {
			if s.p.Metrics[i].Of == nil && x.of(s.p.Metrics[i].Name) {
				m.Of = append(m.Of, i)
			}
		}
		s.metric(m)
	}
	return of
}
