package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// threadFaults returns the number of page faults of the calling thread.
func threadFaults() (int64, error) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return u.Minflt + u.Majflt, err
}

// threadTime returns the CPU time of the calling thread.
func threadTime() (int64, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return ts.Nano(), err
}

// processTime returns the CPU time of the process.
func processTime() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// peakMemory returns the most memory that a process had at a time, in bytes, when it has ended;
// 0: not known. It polls: the maximum that the system reports at the end includes that of the harness
// when it started the process.
func peakMemory(p *os.Process, ended <-chan struct{}) (most int64) {
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
		_, line, _ := strings.Cut(string(status), "\nVmHWM:")
		kib := int64(0)
		if _, err := fmt.Sscanf(line, "%d kB", &kib); err == nil {
			most = max(most, kib<<10)
		}
		select {
		case <-ended:
			return most
		case <-time.After(20 * time.Millisecond):
		}
	}
}
