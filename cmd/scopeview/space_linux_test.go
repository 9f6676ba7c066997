package main

import (
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// smallFileSystem puts temporary files on a file system of 64 MiB.
func smallFileSystem(t *testing.T) {
	t.Helper()
	t.Setenv("TMPDIR", faultfs.Tmpfs(t, 64<<20).Dir)
}
