package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

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
	dir := faultfs.Tmpfs(t, 1<<20).Dir
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
