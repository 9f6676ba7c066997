package heartbeat

import (
	"golang.org/x/sys/windows"

	"github.com/scopeview/scopeview/internal/format"
)

// processReader on windows reads only the process's CPU time.
type processReader struct{}

func (*processReader) init() {}

func (*processReader) read(b *beat) {
	var created, exited, kernel, user windows.Filetime
	err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user)
	if err != nil {
		b.fail("CPU time", err)
		return
	}
	b.put(format.FieldUser, duration(user))
	b.put(format.FieldSystem, duration(kernel))
}

// duration converts a Filetime that is a length of time to ns. Its own
// Nanoseconds method is for points in time: it subtracts 1601.
func duration(t windows.Filetime) int64 {
	return (int64(t.HighDateTime)<<32 | int64(t.LowDateTime)) * 100
}

// readLimits does nothing: limits are not read on this system.
func (*processReader) readLimits(*beat) {}
