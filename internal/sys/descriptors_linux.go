package sys

import (
	"errors"

	"golang.org/x/sys/unix"
)

var errDescriptors = errors.New("too many open files: raise ulimit -n")

// TakeDescriptors opens n descriptors at once, and closes them; it returns an error if there are
// fewer. It does not use package os: a program's first file or timer creates the poller, and Go
// exits if it gets no descriptor for that.
func TakeDescriptors(n int) error {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		if err == unix.EMFILE || err == unix.ENFILE {
			return errDescriptors
		}
		return nil // other errors do not concern descriptors
	}
	if n > 1 {
		err = TakeDescriptors(n - 1)
	}
	unix.Close(fd)
	return err
}
