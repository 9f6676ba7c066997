//go:build !scope_off

package gotrace

import (
	"errors"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// profile is the CPU profile. Go's tracer keeps its samples, with their times; the profile's own
// output is discarded.
type profile struct {
	since time.Time
	cpu   time.Duration // of the process, at its start
	ended atomic.Bool
}

// rotate is the length of one profile. A longer one would keep more stacks in memory.
const rotate = time.Minute

// profileHeap is the estimated size of a profile in Go's heap, in bytes: 1.1 MB at its start, plus
// stacks.
const profileHeap = 1400 << 10

// startProfile starts a profile without the timer of the whole process (ITIMER_PROF), which Go arms
// for it. That timer outlives execve, which we can't see coming: the next program would die by an
// unexpected signal. Threads known to Go are sampled by timers of their own, which the system
// deletes at execve. Samples are missing of threads that C code created, and of C code called
// before: see lacks.
func startProfile() (*profile, error) {
	if sys.ProfilingTimer() {
		return nil, errors.New("the process has a profiling timer already (ITIMER_PROF)")
	}
	if sys.TimersEnd() {
		return nil, errors.New("the limit of real time is 0 (RLIMIT_RTTIME): the kernel would end the program for the timers of the profile")
	}
	p := &profile{since: time.Now(), cpu: cpu()}
	if err := pprof.StartCPUProfile(p); err != nil {
		return nil, err
	}
	sys.DisarmProfilingTimer()
	record.UseHeap(profileHeap)
	return p, nil
}

// lacks names what the profile does not sample; "" if nothing. On Linux Go's runtime counts a C
// call before main if the program contains C code, and none otherwise.
func lacks() string {
	if runtime.GOOS != "linux" || runtime.NumCgoCall() == 0 {
		return ""
	}
	return "threads that C code made"
}

// cpu returns the CPU time of the process; 0 if unknown.
func cpu() time.Duration {
	user, system := sys.ProcessCPU()
	return time.Duration(max(user+system, 0))
}

// spent returns the estimated cost of its samples, one per 10 ms of CPU time; 0 for a nil profile.
func (p *profile) spent() time.Duration {
	if p == nil {
		return 0
	}
	return (cpu() - p.cpu) / (10 * time.Millisecond) * perSample
}

// Write is called only when a profile ends, whoever ended it.
func (p *profile) Write(b []byte) (int, error) {
	if !p.ended.Swap(true) {
		record.UseHeap(-profileHeap)
	}
	return len(b), nil
}

// tick reports whether the profile still runs.
func (p *profile) tick() bool {
	if time.Since(p.since) > rotate {
		p.end()
	}
	return !p.ended.Load()
}

// end stops the profile if it is ours: the program may have stopped it and started another one,
// which has a timer of the process. If there is no such timer, ours may have been ended by
// runtime.SetCPUProfileRate(0), which package pprof does not notice: it refuses the next profile,
// the program's too, until this one is stopped.
func (p *profile) end() {
	if !p.ended.Load() || sys.NoProfilingTimer() {
		sys.KeepProfilingTimer(pprof.StopCPUProfile) // the program may have armed it for itself
	}
}
