//go:build unix

package snapshot

import "syscall"

// openFlags keep a snapshot from being written through a symbolic link.
const openFlags = syscall.O_NOFOLLOW | syscall.O_CLOEXEC
