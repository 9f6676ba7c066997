package outside

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// room is an error where less is free than 5 % of the file system or 1 GiB, whichever is
// smaller: a tracer must not be what fills a disk. What is left will do to end the trace.
func (w *writer) room() error {
	var s unix.Statfs_t
	if unix.Fstatfs(int(w.file.Fd()), &s) != nil || s.Blocks == 0 { // a tmpfs without a limit says that it has nothing
		return nil // a write will tell
	}
	free, keep := int64(s.Bavail)*int64(s.Bsize), min(int64(s.Blocks)*int64(s.Bsize)/20, 1<<30)
	if free < keep {
		return fmt.Errorf("writing the trace %s: %d bytes are free on its file system, and %d must stay free", w.file.Name(), free, keep)
	}
	return nil
}
