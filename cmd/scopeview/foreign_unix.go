//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByOthers reports whether a file belongs neither to this user nor to the system.
func ownedByOthers(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Geteuid()
}
