// Package gotrace has a recording keep Go's own execution trace too: what every
// goroutine did at every moment, what it waited for and who woke it, garbage collection,
// and samples of where the CPU time went; and, where Linux allows it, when each thread
// was on a CPU.
//
//	scope.Start("traces/", gotrace.With())
//
// The execution trace and the CPU profile belong to the whole program, and there is one
// of each. They are taken only when they are free. If the program's own are running,
// they are left alone, the trace says what it did not get, and it is tried again at each
// heartbeat. A program that takes them itself, or has net/http/pprof take them, asks for
// them first; otherwise its own runtime/trace.Start or pprof.StartCPUProfile is an error
// as long as the recording runs:
//
//	release := gotrace.Yield()
//	defer release()
//	pprof.StartCPUProfile(f)
//
// Programs that scopeview run, build or test have built need not ask: what they take is given
// back to them first.
//
// Go's tracer crashes programs whose assembly leaves another value in the frame pointer's
// register. Beside modules that are known to do so nothing is taken, and the trace says so,
// unless the environment has GODEBUG=tracefpunwindoff=1, or scopeview has built the program.
//
// In a ring (scope.WithRing, scope.WithSegments) Go's flight recorder takes the place of
// the execution trace: it keeps the last ten seconds in memory, and writes them when a
// snapshot is taken, by a trigger too, and at Stop. The trace of a program that was
// killed has those of its last snapshot.
//
// # Cost
//
// Go's tracer costs every change of a goroutine's state some 100 ns, and the profile
// a hundred signals per second of CPU time. The trace grows by some 6 bytes for each
// such change; what has no room any more is not kept, which is told. What was
// not told of the last second is lost when the program is killed. A sample of a counter costs
// its thread 1 to 20 µs, in the kernel.
//
// # Design
//
// The package is a collector (internal/collect). runtime/trace writes into a writer,
// which cuts its bytes into gotrace blocks.
//
//   - Go's tracer never waits. What finds no room waits in memory, at most 8 MiB or a
//     second; then the stream ends, and another is begun later.
//   - Such blocks never take the last of the window, nor a limit's spare. Those are for
//     records, names, and what closes a trace.
//   - trace.Stop and StopCPUProfile stop whoever's is running, so it is asked first
//     whether it is ours. A profile that ended has written to us; a trace is ours if a
//     flight recorder's start makes it write to us.
//
// When threads are on CPUs, and what counters sample, is recorded by internal/perf.
package gotrace

import (
	"slices"

	"github.com/scopeview/scopeview/scope"
)

// Option changes what With keeps.
type Option func(*config)

type config struct {
	noProfile  bool
	noSwitches bool
	counters   []counter
	startHeap  heapStart
}

// counter is one of WithCounter.
type counter struct {
	Name  string
	Every uint64
}

// WithoutProfile leaves the CPU profile alone: no samples of running goroutines, and no
// signals. It is for programs in which the timer's signals do harm, or which must be
// able to take profiles without asking.
func WithoutProfile() Option { return func(c *config) { c.noProfile = true } }

// WithoutSwitches does not ask the system when threads are on a CPU, which takes some
// file descriptors and memory for each thread. Whether a goroutine that Go calls running
// was on a CPU is not known then.
func WithoutSwitches() Option { return func(c *config) { c.noSwitches = true } }

// WithCounter samples where each thread is, with its callers, each time that a counter of the
// system has counted so much on it. It may be given several times, for several counters; of
// one that is given twice the last counts. No signal is sent, so it goes with any program.
//
//	gotrace.With(gotrace.WithCounter("task-clock", 1e6), gotrace.WithCounter("page-faults", 1))
//
// task-clock counts ns of CPU time, at least 50,000; page-faults, minor-faults, major-faults,
// context-switches and cpu-migrations count these; cycles, instructions, cache-references,
// cache-misses, branches and branch-misses are the processor's, which virtual machines often
// do not have. What is not there is not replaced by something else: the recording says why
// (scopeview info), and starts without it. There are counters on Linux only.
func WithCounter(name string, every uint64) Option {
	return func(c *config) {
		c.counters = slices.DeleteFunc(c.counters, func(old counter) bool { return old.Name == name })
		c.counters = append(c.counters, counter{name, every})
	}
}

// WithHeap reads Go's heap profile at heartbeats: what each line of code allocated, and what of
// it is in use, with its callers. The program allocates as always, for Go samples one of each
// runtime.MemProfileRate bytes anyway, which is to be set before the recording begins. What was
// allocated is known when a garbage collection or two have followed. A pause of the program that
// begins while the profile is read ends no sooner than that, within a millisecond or two.
func WithHeap() Option { return withHeap }

// With has the recording keep the Go execution trace, samples of the CPU profile, and
// the switches of threads. Starting fails for none of these: the trace says which were
// not to be had, and why.
func With(opts ...Option) scope.Option {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return option(c)
}

// Yield gives the execution trace and the CPU profile back to the program, at once, and
// keeps the recording from taking them until release is called; at the next heartbeat
// after that it takes them again if they are free. Between the two the trace knows
// nothing of goroutines' states. It may be called at any time, from any goroutine,
// whether or not anything is being recorded; what is yielded several times is taken
// again when all have released it. Calling release again does nothing.
func Yield() (release func()) { return yield() }
