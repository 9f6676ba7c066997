package sys

import "golang.org/x/sys/unix"

// ProfilingTimer reports whether the process's interval timer of CPU time (ITIMER_PROF) is
// armed.
func ProfilingTimer() bool { return profilingTimer().Value != (unix.Timeval{}) }

// NoProfilingTimer reports whether it is known that there is none, which it is not under a seccomp
// filter.
func NoProfilingTimer() bool { return !Filtered() && !ProfilingTimer() }

// TimersEnd reports whether the kernel ends, or signals, a process one of whose threads has a timer
// of CPU time: with a limit of 0 for real time (RLIMIT_RTTIME), it then finds that the thread has
// reached the limit.
func TimersEnd() bool {
	var l unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_RTTIME, &l) == nil && l.Cur == 0
}

// profilingTimer returns that timer. It is not read under a seccomp filter, which may end the
// process for the call.
func profilingTimer() (it unix.Itimerval) {
	if !Filtered() {
		it, _ = unix.Getitimer(unix.ITIMER_PROF)
	}
	return it
}

// DisarmProfilingTimer disarms that timer, which outlives execve, so that the next program would
// die by its signal. If the system refuses that call, it has refused to arm it too.
func DisarmProfilingTimer() { _, _ = unix.Setitimer(unix.ITIMER_PROF, unix.Itimerval{}) }

// KeepProfilingTimer calls f, which disarms that timer, and re-arms it as it was. If it is not
// armed, it only calls f, so that a timer that another goroutine arms meanwhile stays.
func KeepProfilingTimer(f func()) {
	it := profilingTimer()
	f()
	if it.Value != (unix.Timeval{}) {
		_, _ = unix.Setitimer(unix.ITIMER_PROF, it)
	}
}
