//go:build !scope_off

package record_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestG44Clone: a program is killed, its disk is detached, and a clone of it, with the same inodes,
// birth times and UUID, is mounted with the same device number at the same path. A recording there
// does not touch the program's hot file, and the trace is read with it when its disk is back.
func TestG44Clone(t *testing.T) {
	if !record.HaveDisk {
		t.Skip("there are no hot files on the pure path")
	}
	if numbered, _ := filepath.Glob("/sys/dev/block/*/diskseq"); numbered == nil {
		t.Skip("the kernel does not number disks: it is older than 5.15, or /sys is not there")
	}
	n := 0
	for name, flags := range map[string]uintptr{"one namespace": 0, "two namespaces": syscall.CLONE_NEWNS} {
		for _, clone := range []string{"made before the trace", "with the trace in it"} {
			t.Run(name+", "+clone, func(t *testing.T) {
				inTurn(t, flags, clone == "with the trace in it")
				n++
			})
		}
	}
	t.Run("beside", cloneBeside)
	if n == 0 {
		return // skipped, or failed
	}
	t.Logf("G44: %d times a clone of a killed program's disk was recorded to under the device number of that: its %d scopes are all there", n, containedScopes)
}

// cloned starts a program that records to a disk, in namespaces of its own.
func cloned(t *testing.T, path string, flags uintptr) *exposed {
	t.Helper()
	t.Setenv(exposedMount, "")
	return expose(t, os.Args[0], "container", path, &syscall.SysProcAttr{Cloneflags: flags})
}

func (x *exposed) kill(t *testing.T) {
	t.Helper()
	if err := x.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = x.cmd.Wait()
}

func inTurn(t *testing.T, flags uintptr, with bool) {
	disk := faultfs.Ext4(t, 32<<20, "")
	path := filepath.Join(disk.Dir, "x.scope")
	var other string
	if !with {
		other = disk.Clone(t)
	}
	x := cloned(t, path, flags)
	hot := hotOf(t, path)
	x.kill(t)
	if with {
		other = disk.Clone(t)
	}
	beside := func(name string) {
		t.Helper()
		f, err := os.OpenFile(hot, os.O_RDWR, 0)
		if err != nil {
			t.Fatal("the hot file is gone: ", err)
		}
		defer f.Close()
		var b [8]byte
		if _, err := f.WriteAt(b[:], format.HotSeenOffset); err != nil {
			t.Fatal(err)
		}
		x := cloned(t, filepath.Join(disk.Dir, name), flags)
		until(t, "the hot file looked at", func() bool {
			st, _ := f.Stat()
			_, err := f.ReadAt(b[:], format.HotSeenOffset)
			return err != nil || b != [8]byte{} || st.Sys().(*syscall.Stat_t).Nlink == 0
		})
		x.end(t)
		if _, err := os.Lstat(hot); err != nil {
			t.Fatal("the hot file is gone: ", err)
		}
	}
	own := disk.Swap(t, other)
	if with {
		beside("y.scope")
	} else {
		beside("x.scope")
	}
	beside("z.scope")
	disk.Swap(t, own)
	allThere(t, path)
	beside("y.scope") // this one might be a clone too
	allThere(t, path)
}

// cloneBeside: a clone that contains the trace, and is mounted together with the original, is read
// without the hot file, also by a process that does not see the trace at its path.
func cloneBeside(t *testing.T) {
	disk := faultfs.Ext4(t, 32<<20, "")
	path := filepath.Join(disk.Dir, "x.scope")
	x := cloned(t, path, syscall.CLONE_NEWNS)
	clone := faultfs.Beside(t, disk.Clone(t))
	x.kill(t)
	for path, want := range map[string]bool{path: false, filepath.Join(clone.Dir, "x.scope"): true} {
		tr, err := trace.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if tr.LacksHotPart() != want {
			t.Errorf("%s: the hot part is missing: %t, want %t", path, !want, want)
		}
		tr.Close()
	}
}
