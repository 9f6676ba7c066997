//go:build linux

package faultfs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// FS is a mounted file system.
type FS struct {
	Kind string // tmpfs or ext4
	Dir  string

	image  string // of ext4
	device string
	keep   *os.File // the device, open: else it is free when it is not mounted
	number string   // the device's, major:minor
	mount  string   // what to mount it with
	frozen bool
}

// root skips where the test is not root.
func root(t testing.TB, what string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip(what + " needs root")
	}
}

// Tmpfs mounts one of that many bytes.
func Tmpfs(t testing.TB, size int64) *FS {
	t.Helper()
	root(t, "mounting a small file system")
	f := &FS{Kind: "tmpfs", Dir: t.TempDir()}
	if err := unix.Mount("tmpfs", f.Dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("a small tmpfs can't be mounted: %v", err)
	}
	t.Cleanup(func() { f.unmount(t) })
	return f
}

// unmount also takes away what somebody still has open.
func (f *FS) unmount(t testing.TB) {
	if f.frozen {
		f.Thaw(t)
	}
	if unix.Unmount(f.Dir, 0) == nil {
		return
	}
	if err := unix.Unmount(f.Dir, unix.MNT_DETACH); err != nil {
		t.Errorf("unmounting %s: %v", f.Dir, err)
	}
}

// Free is how many bytes whoever is not root may still take, of how many.
func (f *FS) Free(t testing.TB) (free, total int64) {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(f.Dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize)
}

// Fill takes all the room that there is, to the last block, root's own included.
func (f *FS) Fill(t testing.TB) {
	t.Helper()
	filler, err := os.OpenFile(filepath.Join(f.Dir, "filler"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer filler.Close()
	var s unix.Statfs_t
	if err := unix.Statfs(f.Dir, &s); err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for step := int64(s.Bfree) * int64(s.Bsize); step >= 4096; {
		// What did not fit may have been kept in part (ext4), or not (tmpfs).
		if err := unix.Fallocate(int(filler.Fd()), 0, at, step); err != nil {
			if st, e := filler.Stat(); e == nil {
				at = max(at, st.Size())
			}
			step /= 2
			continue
		}
		at += step
	}
	// By bytes too, since they take what allocating leaves.
	b := make([]byte, 4096)
	for n := 0; n < 4096; n++ {
		if _, err := filler.WriteAt(b, at); err != nil {
			break
		}
		at += int64(len(b))
	}
}

// Empty gives back what Fill took.
func (f *FS) Empty(t testing.TB) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.Dir, "filler")); err != nil {
		t.Fatal(err)
	}
}

// Allocated is how many bytes a file takes on its file system.
func Allocated(t testing.TB, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
