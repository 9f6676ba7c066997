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

// profile is the CPU profile. Go's tracer keeps its samples, with their times; what the
// profile itself makes of them is thrown away.
type profile struct {
	since time.Time
	cpu   time.Duration // of the process, when it began
	ended atomic.Bool
}

// rotate is how long a profile runs: it keeps every stack that it saw in memory.
const rotate = time.Minute

// profileHeap is what a profile has in Go's heap, in bytes: 1.1 MB from its begin on, and stacks.
const profileHeap = 1400 << 10

// startProfile starts a profile without the timer of the whole process (ITIMER_PROF) that Go arms
// for it. That one outlives execve, which nobody here sees coming: the program that comes then dies
// by a signal that it does not expect. What samples the threads that Go knows are timers of their
// own, which the system deletes at an execve. What is lost are samples of threads that C code made,
// and of C code that was called before: see lacks.
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

// lacks names what there are no samples of; "": nothing. On Linux Go's runtime counts a call of C
// before main where there is C code, and never one where there is none.
func lacks() string {
	if runtime.GOOS != "linux" || runtime.NumCgoCall() == 0 {
		return ""
	}
	return "threads that C code made"
}

// cpu is the CPU time of the process; 0 where it is not known.
func cpu() time.Duration {
	user, system := sys.ProcessCPU()
	return time.Duration(max(user+system, 0))
}

// spent is what its samples have taken, of which there is one in each 10 ms of CPU time. Of no
// profile it is nothing.
func (p *profile) spent() time.Duration {
	if p == nil {
		return 0
	}
	return (cpu() - p.cpu) / (10 * time.Millisecond) * perSample
}

// Write is called when a profile ends, and never before: so it tells who stopped it.
func (p *profile) Write(b []byte) (int, error) {
	if !p.ended.Swap(true) {
		record.UseHeap(-profileHeap)
	}
	return len(b), nil
}

// tick reports whether it still runs.
func (p *profile) tick() bool {
	if time.Since(p.since) > rotate {
		p.end()
	}
	return !p.ended.Load()
}

// end stops the profile, if it is ours: the program may have stopped it, and have
// begun another one, which has a timer of the process. Where there is none, ours may have been ended by
// runtime.SetCPUProfileRate(0), of which package pprof does not know: it refuses the next profile, the
// program's too, until somebody stops this one.
func (p *profile) end() {
	if !p.ended.Load() || sys.NoProfilingTimer() {
		sys.KeepProfilingTimer(pprof.StopCPUProfile) // the program may have armed it for itself
	}
}
