//go:build unix

package tracetest

import (
	"syscall"
	"time"
)

// worked is the CPU time that this process took: how long something takes depends on who
// else is at work.
func worked() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
