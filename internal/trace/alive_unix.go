//go:build linux || darwin

package trace

import (
	"errors"
	"os"
	"syscall"
)

// WriterAlive reports whether the process that writes the trace f still does: it
// holds an exclusive lock on it for as long as it lives, and the system takes
// the lock away however it dies. The lock that is tried here is given back at
// once. known is false where the file system has no locks.
func WriterAlive(f *os.File) (alive, known bool) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
		case err == nil:
			return false, syscall.Flock(int(f.Fd()), syscall.LOCK_UN) == nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return true, true
		case errors.Is(err, syscall.EINTR):
		default:
			return false, false
		}
	}
}
