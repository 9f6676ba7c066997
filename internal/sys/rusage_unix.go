//go:build linux || darwin

package sys

import "golang.org/x/sys/unix"

// ProcessCPU returns the CPU time of the process in user mode and in the
// kernel, in nanoseconds; -1 if unknown.
func ProcessCPU() (user, system int64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return -1, -1
	}
	return u.Utime.Nano(), u.Stime.Nano()
}
