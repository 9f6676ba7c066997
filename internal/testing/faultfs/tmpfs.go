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
	keep   *os.File // the open device, which otherwise is free when unmounted
	number string   // the device's, major:minor
	mount  string   // mount options
	frozen bool
}

// root skips the test unless it runs as root.
func root(t testing.TB, what string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip(what + " needs root")
	}
}

// Tmpfs mounts a tmpfs of size bytes.
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

// unmount unmounts the file system even if files are open.
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

// Free returns the bytes available to users other than root, and the total.
func (f *FS) Free(t testing.TB) (free, total int64) {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(f.Dir, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize)
}

// Fill uses up all space, including the blocks reserved for root.
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
		// A failed allocation may be kept in part (ext4), or not (tmpfs).
		if err := unix.Fallocate(int(filler.Fd()), 0, at, step); err != nil {
			if st, e := filler.Stat(); e == nil {
				at = max(at, st.Size())
			}
			step /= 2
			continue
		}
		at += step
	}
	// Writes fill the space that allocation leaves.
	b := make([]byte, 4096)
	for n := 0; n < 4096; n++ {
		if _, err := filler.WriteAt(b, at); err != nil {
			break
		}
		at += int64(len(b))
	}
}

// Empty releases the space taken by Fill.
func (f *FS) Empty(t testing.TB) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.Dir, "filler")); err != nil {
		t.Fatal(err)
	}
}

// Allocated returns the allocated bytes of a file.
func Allocated(t testing.TB, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
