package main

import "golang.org/x/sys/unix"

// lockCommand locks for the open file, so that it also excludes two commands in one process.
const lockCommand = unix.F_OFD_SETLK
