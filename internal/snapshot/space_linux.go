package snapshot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// roomFor returns an error if f's file system has no room for n bytes.
func roomFor(f *os.File, n int64) error {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return nil // unknown: the writes will fail
	}
	if avail := int64(s.Bavail) * int64(s.Bsize); avail < n {
		return fmt.Errorf("%d bytes are needed and %d are free: %w", n, avail, unix.ENOSPC)
	}
	return nil
}
