package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// smallFS mounts a tmpfs of 1 MiB and returns its path.
func smallFS(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m"); err != nil {
		t.Skipf("a small file system can't be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	return dir
}

// filling is a trace whose disk another writer fills while it is read.
type filling struct {
	*os.File
	fill func()
}

func (f filling) ReadAt(b []byte, off int64) (int, error) {
	if len(b) > 4096 { // a run of chunks: the copying has begun
		f.fill()
	}
	return f.File.ReadAt(b, off)
}

// TestFullDisk checks that on a disk that is too small, or becomes full, a snapshot fails and
// leaves nothing.
func TestFullDisk(t *testing.T) {
	dir := smallFS(t)
	src := filepath.Join(t.TempDir(), "src.scope")
	for _, test := range []struct {
		name   string
		chunks int
		fills  bool
	}{{"too small", 400, false}, {"becomes full", 100, true}} {
		t.Run(test.name, func(t *testing.T) {
			tracetest.Write(t, src, "header clock=monotonic path=go start=1000\nstate tick=5000\n"+
				strings.Repeat("chunk records sealed flags=final\nevent g=7 start=1500\n", test.chunks))
			f, err := os.Open(src)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			other := filepath.Join(dir, "other")
			defer os.Remove(other)
			filled := false
			s := filling{f, func() {
				if test.fills && !filled {
					filled = true
					err := os.WriteFile(other, make([]byte, 2<<20), 0o600)
					if !errors.Is(err, unix.ENOSPC) {
						t.Errorf("filling the disk: %v", err)
					}
				}
			}}
			path := filepath.Join(dir, "dst.scope")
			_, err = create(path, s, Options{})
			if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), path) || filled != test.fills {
				t.Errorf("%v; filled: %v", err, filled)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("a file was left")
			}
		})
	}
}
