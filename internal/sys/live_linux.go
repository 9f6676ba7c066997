package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Wipe makes children of fork(2) find zeros in Live from now on. Its pages are private
// and anonymous: zero when the program begins, and a page away from other data.
func Wipe() error {
	from, to := livePages()
	b := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&Live), from)), to-from)
	if err := unix.Madvise(b, unix.MADV_WIPEONFORK); err != nil {
		return fmt.Errorf("MADV_WIPEONFORK: %w", err)
	}
	return nil
}
