package heartbeat

import (
	"os"

	"golang.org/x/sys/unix"
)

// fewThreads is up to which limit it is looked at how many threads the user has: the system
// tells only by all of its processes, which are read once.
const fewThreads = 4096

// userThreadsLeft is how many threads more the user may have (RLIMIT_NPROC, ulimit -u), as far
// as /proc shows what there is. Root may have as many as there are.
func userThreadsLeft() int64 {
	var l unix.Rlimit
	uid := int64(os.Getuid())
	if uid == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &l) != nil || l.Cur > fewThreads {
		return noLimit
	}
	left := int64(l.Cur)
	if proc, err := os.Open("/proc"); err == nil {
		names, _ := proc.Readdirnames(-1)
		proc.Close()
		for _, name := range names {
			if name[0] > '9' {
				continue
			}
			text, _ := os.ReadFile("/proc/" + name + "/status")
			if number(text, "Uid:") == uid {
				left -= number(text, "Threads:")
			}
		}
	}
	return left
}
