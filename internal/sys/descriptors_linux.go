package sys

import (
	"errors"

	"golang.org/x/sys/unix"
)

// descriptors is how many a recording has at once, with those of Go's poller.
const descriptors = 8

var errDescriptors = errors.New("fewer than 8 descriptors are left (too many open files): raise the limit (ulimit -n)")

// NoDescriptors returns an error if the process can't have so many more now. It uses none of package
// os: a program's first file or timer makes its poller, and Go ends a program that gets no
// descriptor for that.
func NoDescriptors() error {
	if err := take(descriptors); err == unix.EMFILE || err == unix.ENFILE {
		return errDescriptors
	}
	return nil // whatever else forbids a file forbids no descriptor
}

// take takes n at once, and gives them back.
func take(n int) error {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		if n > 1 {
			err = take(n - 1)
		}
		unix.Close(fd)
	}
	return err
}
