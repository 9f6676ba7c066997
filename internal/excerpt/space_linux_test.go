package excerpt

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestFullDisk: on a disk that is too small an excerpt fails, and leaves nothing.
func TestFullDisk(t *testing.T) {
	dir := faultfs.Tmpfs(t, 1<<20).Dir
	src := filepath.Join(t.TempDir(), "src.scope")
	filetest.Write(t, src, tracetest.Bulk(60, true))
	f, err := hot.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), filepath.Join(dir, "part.scope"), f, Options{From: 1}); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("%v", err)
	}
	left(t, dir)
}
