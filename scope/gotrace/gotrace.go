// Package gotrace adds Go's execution trace to a recording: the state of every goroutine at
// every moment, what it waited for and which goroutine woke it, garbage collection, samples of
// the CPU time; and, if Linux allows it, when each thread was on a CPU.
//
//	scope.Start("traces/", gotrace.With())
//
// The execution trace and the CPU profile belong to the whole program, and there is one of each.
// The recording takes them only when they are free. If the program's own are running, they are
// left alone, the trace records what is missing, and the next heartbeat tries again. A program
// that takes them itself, or through net/http/pprof, must call Yield first; otherwise its
// runtime/trace.Start or pprof.StartCPUProfile returns an error while the recording runs:
//
//	release := gotrace.Yield()
//	defer release()
//	pprof.StartCPUProfile(f)
//
// Programs built by scopeview run, build or test need not call Yield: what they take is given
// back to them first.
//
// Go's tracer crashes programs whose assembly leaves another value in the frame pointer's
// register. In a program with a module that is known to do so, nothing is taken, and the trace
// records that, unless the environment has GODEBUG=tracefpunwindoff=1, or scopeview has built
// the program.
//
// In a ring (scope.WithRing, scope.WithSegments) Go's flight recorder replaces the execution
// trace: it keeps the last ten seconds in memory, and writes them when a snapshot is taken, also
// by a trigger, and at Stop. The trace of a killed program has only those of its last snapshot.
//
// # Cost
//
// Go's tracer adds some 100 ns and 6 bytes to every change of a goroutine's state, and the
// profile a hundred signals per second of CPU time. Data without room in the trace is dropped,
// and the trace records that. When the program is killed, up to the last second is lost. A
// sample of a counter costs its thread 1 to 20 µs, in the kernel.
//
// # Design
//
// The package is a collector (internal/collect). runtime/trace writes into a writer, which cuts
// its bytes into gotrace blocks.
//
//   - Go's tracer never blocks. Data without room waits in memory, at most 8 MiB or a
//     second; then the stream ends, and another one begins later.
//   - These blocks never take the last of the window, nor a limit's reserve. Those are for
//     records, names, and the end of a trace.
//   - trace.Stop and StopCPUProfile stop whichever is running, so the package first checks
//     whether that is its own. A profile of its own that ended has written its output; a
//     trace is its own if starting a flight recorder makes it write.
//
// Package internal/perf records thread switches and the samples of counters.
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

// counter holds the arguments of WithCounter.
type counter struct {
	Name  string
	Every uint64
}

// WithoutProfile leaves the CPU profile out: no samples of running goroutines, and no signals.
// It is for programs that the timer's signals harm, or that take profiles without calling Yield.
func WithoutProfile() Option { return func(c *config) { c.noProfile = true } }

// WithoutSwitches does not record when threads are on a CPU, which takes some file descriptors
// and memory per thread. Without it, whether a goroutine that Go calls running was on a CPU is
// unknown.
func WithoutSwitches() Option { return func(c *config) { c.noSwitches = true } }

// WithCounter records a thread's stack each time a counter of the system has advanced by every
// on that thread. It may be given several times, for several counters; for one counter the last
// wins. It sends no signals, so it works with any program.
//
//	gotrace.With(gotrace.WithCounter("task-clock", 1e6), gotrace.WithCounter("page-faults", 1))
//
// task-clock counts ns of CPU time, and every is at least 50,000; page-faults, minor-faults,
// major-faults, context-switches and cpu-migrations count these events; cycles, instructions,
// cache-references, cache-misses, branches and branch-misses are counters of the processor,
// which virtual machines often lack. A missing counter is not replaced by another: the recording
// starts without it and records why (scopeview info). There are counters on Linux only.
func WithCounter(name string, every uint64) Option {
	return func(c *config) {
		c.counters = slices.DeleteFunc(c.counters, func(old counter) bool { return old.Name == name })
		c.counters = append(c.counters, counter{name, every})
	}
}

// WithHeap reads Go's heap profile at heartbeats: what each line of code allocated, and how much
// of that is in use, with its callers. Allocating costs the program nothing more, because Go
// samples one of each runtime.MemProfileRate bytes anyway; set that before the recording begins.
// Allocations show up after one or two garbage collections. A pause of the program that begins
// while the profile is being read lasts until it has been read, a millisecond or two.
func WithHeap() Option { return withHeap }

// With adds Go's execution trace, samples of the CPU profile, and thread switches to a
// recording. If one of these is not available, Start does not fail: the trace records which, and
// why.
func With(opts ...Option) scope.Option {
	var c config
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return option(c)
}

// Yield gives the execution trace and the CPU profile back to the program, at once, and keeps
// the recording from taking them until release is called. At the next heartbeat after that, the
// recording takes them again if they are free. In between, the states of goroutines are unknown.
// Yield may be called at any time, from any goroutine, with or without a recording; after
// several calls, all of them must be released. A second call of release does nothing.
func Yield() (release func()) { return yield() }
