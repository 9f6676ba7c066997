//go:build linux || darwin

package heartbeat

import (
	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
)

// readUsage reads the kernel's sums for the process, including threads that
// have ended.
func readUsage(b *beat) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.fail("CPU time, faults and context switches", err)
		return
	}
	b.put(format.FieldUser, u.Utime.Nano())
	b.put(format.FieldSystem, u.Stime.Nano())
	b.put(format.FieldMinorFaults, int64(u.Minflt))
	b.put(format.FieldMajorFaults, int64(u.Majflt))
	b.put(format.FieldVoluntary, int64(u.Nvcsw))
	b.put(format.FieldInvoluntary, int64(u.Nivcsw))
}
