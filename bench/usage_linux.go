package main

import "golang.org/x/sys/unix"

// threadFaults is the number of page faults of the calling thread.
func threadFaults() (int64, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return u.Minflt + u.Majflt, err
}

// threadTime is the CPU time of the calling thread.
func threadTime() (int64, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano(), err
}

// processTime is the CPU time of the process.
func processTime() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
