package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// switchTime is the time of one switch between two new threads that yield one
// CPU to each other. Each calls first before. A kernel may let one of the two
// yield and yield before the other has begun; then it is tried again.
func switchTime(first func()) (ns float64, err error) {
	for range 5 {
		if ns, err = trySwitches(first); err == nil {
			break
		}
	}
	return ns, err
}

// trySwitches is one try. The goroutines stay locked to their threads, so the
// threads, and their pinning, end with them.
func trySwitches(first func()) (ns float64, err error) {
	const yields = 100_000
	var (
		ready    atomic.Int32
		done     sync.WaitGroup
		spent    time.Duration
		switches int64
		errs     [2]error
	)
	for i := range errs {
		done.Go(func() {
			runtime.LockOSThread()
			first()
			errs[i] = pinThread()
			before, err := threadSwitches()
			errs[i] = errors.Join(errs[i], err)
			ready.Add(1)
			for ready.Load() < 2 {
				runtime.Gosched()
			}
			begin := time.Now()
			for range yields {
				// Raw, so that the goroutine keeps its P: what is measured is
				// the kernel's switch, not the scheduler's of Go.
				unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			}
			if i == 0 {
				after, err := threadSwitches()
				errs[i] = errors.Join(errs[i], err)
				spent, switches = time.Since(begin), after-before
			}
		})
	}
	done.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return 0, err
	}
	if switches < yields/2 {
		return 0, fmt.Errorf("%d yields made %d switches", yields, switches)
	}
	return float64(spent) / float64(2*switches), nil // there and back
}

// threadSwitches returns how often the calling thread has left its CPU.
func threadSwitches() (int64, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return u.Nvcsw + u.Nivcsw, err
}

// pinThread pins the calling thread to the first CPU on which it may run.
func pinThread() error {
	var may, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return fmt.Errorf("the thread's CPUs are unknown: %w", err)
	}
	for cpu := range len(may) * 64 {
		if may.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return fmt.Errorf("the thread can't be pinned to a CPU: %w", err)
	}
	return nil
}
