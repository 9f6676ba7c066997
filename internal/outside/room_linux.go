package outside

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// room returns an error if less than 5 % of the file system or 1 GiB, whichever is
// smaller, is free, because a recorder must not fill a disk. The rest suffices to end the
// trace.
func (w *writer) room() error {
	var s unix.Statfs_t
	if unix.Fstatfs(int(w.file.Fd()), &s) != nil || s.Blocks == 0 { // a tmpfs without a limit reports 0
		return nil // a write will fail if there is no room
	}
	free, keep := int64(s.Bavail)*int64(s.Bsize), min(int64(s.Blocks)*int64(s.Bsize)/20, 1<<30)
	if free < keep {
		return fmt.Errorf("writing the trace %s: %d bytes are free on its file system, and %d must stay free", w.file.Name(), free, keep)
	}
	return nil
}
