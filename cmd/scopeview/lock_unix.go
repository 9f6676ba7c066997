//go:build linux || darwin || freebsd || netbsd || openbsd

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryLockRange locks n bytes of f at off against other callers of tryLockRange. It is independent
// of the flock of the trace's writer.
func tryLockRange(f *os.File, off, n int64) (held bool, err error) {
	return setLock(f, unix.F_WRLCK, off, n)
}

func unlockRange(f *os.File, off, n int64) { _, _ = setLock(f, unix.F_UNLCK, off, n) }

func setLock(f *os.File, kind int16, off, n int64) (held bool, err error) {
	l := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: off, Len: n}
	for {
		err := unix.FcntlFlock(f.Fd(), lockCommand, &l)
		switch {
		case err == nil:
			return false, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES):
			return true, nil
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EOPNOTSUPP):
			return false, nil // a file system without locks
		default:
			return false, fmt.Errorf("locking the control words of %s: %w", f.Name(), err)
		}
	}
}
