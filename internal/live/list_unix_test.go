//go:build unix

package live

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestListPipe: a named pipe does not block.
func TestListPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.scope"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, dir, nil)
	if l := listOf(t, r); len(l.Traces) != 1 || l.Traces[0].Why != "It is not a regular file." {
		t.Errorf("%+v", l.lines())
	}
}
