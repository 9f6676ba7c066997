package sys

import "golang.org/x/sys/unix"

// ThreadCPU returns the CPU time of the caller's thread and its id; ok is false
// if it can't be read.
func ThreadCPU() (ns int64, tid int, ok bool) {
	var ts unix.Timespec
	tid = unix.Gettid()
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0, 0, false
	}
	return ts.Nano(), tid, tid == unix.Gettid()
}
