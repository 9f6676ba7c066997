//go:build linux

package faultfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// fillable are the file systems that can be full, each made for a test.
var fillable = map[string]func(t testing.TB, size int64) *FS{
	"tmpfs": Tmpfs,
	"ext4":  func(t testing.TB, size int64) *FS { return Ext4(t, size, "") },
}

// TestFill fills file systems to the last block, and empties them.
func TestFill(t *testing.T) {
	for name, make := range fillable {
		t.Run(name, func(t *testing.T) {
			f := make(t, 32<<20)
			before, total := f.Free(t)
			if before == 0 || total > 32<<20 {
				t.Fatalf("%d of %d bytes are free", before, total)
			}
			f.Fill(t)
			if free, _ := f.Free(t); free >= 4096 {
				t.Errorf("%d bytes are free", free)
			}
			path := filepath.Join(f.Dir, "more")
			if err := os.WriteFile(path, []byte("more"), 0o600); !errors.Is(err, unix.ENOSPC) {
				t.Errorf("writing: %v, want ENOSPC", err)
			}
			f.Empty(t)
			if free, _ := f.Free(t); free < before*9/10 {
				t.Errorf("%d bytes are free, before %d were", free, before)
			}
		})
	}
}

// TestFreeze writes to a file system that is frozen.
func TestFreeze(t *testing.T) {
	f := Ext4(t, 32<<20, "")
	f.Freeze(t, 20*time.Second)
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(filepath.Join(f.Dir, "a"), []byte("a"), 0o600) }()
	select {
	case err := <-wrote:
		t.Errorf("writing to a frozen file system: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough for one that is not
	}
	f.Thaw(t)
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

// TestShutdown cuts the power: what was synced is there afterwards, what was not is
// not, and meanwhile everything is EIO.
func TestShutdown(t *testing.T) {
	f := Ext4(t, 32<<20, "")
	synced, not := filepath.Join(f.Dir, "synced"), filepath.Join(f.Dir, "not")
	w, err := os.Create(synced)
	if err == nil {
		_, err = w.WriteString("synced")
	}
	if err == nil {
		err = w.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	filetest.Write(t, not, []byte("not"))
	f.Shutdown(t, PowerCut)
	if err := os.WriteFile(filepath.Join(f.Dir, "b"), []byte("b"), 0o600); !errors.Is(err, unix.EIO) {
		t.Errorf("writing to a file system that is shut down: %v, want EIO", err)
	}
	f.Remount(t)
	if b, err := os.ReadFile(synced); err != nil || string(b) != "synced" {
		t.Errorf("what was synced is %q: %v", b, err)
	}
	if b, err := os.ReadFile(not); err == nil && string(b) == "not" {
		t.Error("what was not synced is there")
	}
}

// TestThrottle writes to a slow device: half a megabyte at one a second.
func TestThrottle(t *testing.T) {
	f := Ext4(t, 32<<20, "")
	f.Throttle(t, 1<<20)
	w, err := os.Create(filepath.Join(f.Dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	begin := time.Now()
	if _, err := w.Write(make([]byte, 1<<19)); err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begin); d < 300*time.Millisecond {
		t.Errorf("half of what it takes in a second took %v", d)
	}
	f.Throttle(t, 0)
}

// TestMemory reads the numbers of a group.
func TestMemory(t *testing.T) {
	m := MemoryGroup(t, 64<<20)
	if m.Usage(t) > 1<<20 || m.Peak(t) > 1<<20 || m.Kills(t) != 0 || m.Cache(t) != 0 {
		t.Errorf("%d bytes are used, %d were, %d of the cache, %d were killed", m.Usage(t), m.Peak(t), m.Cache(t), m.Kills(t))
	}
}
