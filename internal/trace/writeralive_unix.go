//go:build linux || darwin

package trace

import (
	"errors"
	"os"
	"syscall"
)

// WriterAlive reports whether the process that writes the trace f is alive: it holds an exclusive
// lock on f for as long as it lives, and the system releases the lock however it dies. WriterAlive
// releases the lock that it tries at once. known is false if the file system has no locks.
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
