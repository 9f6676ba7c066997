package sys

import "golang.org/x/sys/unix"

func gettid() uint64 { return uint64(unix.Gettid()) }
