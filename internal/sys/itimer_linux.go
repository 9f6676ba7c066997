package sys

import "golang.org/x/sys/unix"

// ProfilingTimer reports whether the process's interval timer of CPU time (ITIMER_PROF) is
// armed.
func ProfilingTimer() bool { return profilingTimer().Value != (unix.Timeval{}) }

// NoProfilingTimer reports that there is none, which is not known behind a seccomp filter.
func NoProfilingTimer() bool { return !Filtered() && !ProfilingTimer() }

// TimersEnd reports whether the kernel ends, or signals, a process one of whose threads has a timer
// of CPU time: of a limit of no real time (RLIMIT_RTTIME) it then finds that each has reached it.
func TimersEnd() bool {
	var l unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_RTTIME, &l) == nil && l.Cur == 0
}

// profilingTimer is that timer. Behind a seccomp filter, which may end the process for the
// question, nobody asks.
func profilingTimer() (it unix.Itimerval) {
	if !Filtered() {
		it, _ = unix.Getitimer(unix.ITIMER_PROF)
	}
	return it
}

// DisarmProfilingTimer disarms that timer. It outlives execve, and the program that comes then
// dies by its signal. Where the system refuses that, it has refused to arm it.
func DisarmProfilingTimer() { _, _ = unix.Setitimer(unix.ITIMER_PROF, unix.Itimerval{}) }

// KeepProfilingTimer calls f, which disarms that timer, and arms it again as it was. Where it is
// not armed it does no more than call f, so that what another goroutine arms meanwhile stays.
func KeepProfilingTimer(f func()) {
	it := profilingTimer()
	f()
	if it.Value != (unix.Timeval{}) {
		_, _ = unix.Setitimer(unix.ITIMER_PROF, it)
	}
}
