//go:build darwin || freebsd || netbsd || openbsd

package main

import "golang.org/x/sys/unix"

// lockCommand locks for the process.
const lockCommand = unix.F_SETLK
