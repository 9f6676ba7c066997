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
	uid, has := int64(os.Getuid()), int64(1)
	if uid == 0 || ownLeft(unix.RLIMIT_NPROC, has) > fewThreads {
		return noLimit
	}
	has = 0
	if proc, err := os.Open("/proc"); err == nil {
		names, _ := proc.Readdirnames(-1)
		proc.Close()
		for _, name := range names {
			if name[0] > '9' {
				continue
			}
			text, _ := os.ReadFile("/proc/" + name + "/status")
			if number(text, "Uid:") == uid {
				has += number(text, "Threads:")
			}
		}
	}
	return ownLeft(unix.RLIMIT_NPROC, has)
}
