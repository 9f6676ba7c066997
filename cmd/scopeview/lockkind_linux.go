package main

import "golang.org/x/sys/unix"

// lockCommand locks for the open file: two commands in one process exclude each
// other too.
const lockCommand = unix.F_OFD_SETLK
