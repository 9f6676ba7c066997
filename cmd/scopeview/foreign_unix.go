//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign reports whether a file is neither ours nor the system's.
func foreign(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Geteuid()
}
