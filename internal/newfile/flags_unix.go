//go:build unix

package newfile

import "syscall"

// noFollow keeps an open from following a symbolic link, and children from inheriting the file;
// noWait keeps it from waiting for the other end of a pipe.
const (
	noFollow = syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	noWait   = syscall.O_NONBLOCK
)
