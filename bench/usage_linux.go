package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// peakMemory is the most memory that a process that has ended had at a time, in bytes; 0: not
// known.
func peakMemory(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}
