//go:build linux

package faultfs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Ioctl numbers missing from package unix.
const (
	fiFreeze     = 0xc0045877
	fiThaw       = 0xc0045878
	ext4Shutdown = 0x8004587d
)

// Modes of Shutdown for unwritten data.
const (
	FlushFirst = 0 // everything written so far is on the device
	PowerCut   = 2 // unwritten data are lost, including the journal's memory
)

// Ext4 creates a file system of size bytes in a file, and mounts it with a loop device.
// options are mount options; "": none.
func Ext4(t testing.TB, size int64, options string) *FS {
	t.Helper()
	return Ext4In(t, t.TempDir(), size, options)
}

// Ext4In is like Ext4 with the file in dir. The file has no allocated blocks: in a full
// directory the device has I/O errors.
func Ext4In(t testing.TB, dir string, size int64, options string) *FS {
	t.Helper()
	root(t, "mounting a file system in a file")
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		t.Skip("there is no mkfs.ext4 to make a file system with")
	}
	f := &FS{Kind: "ext4", Dir: t.TempDir(), image: filepath.Join(dir, "image"), mount: options}
	if err := os.WriteFile(f.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(f.image, size); err != nil {
		t.Fatal(err)
	}
	// Lazy initialization would write for minutes.
	if out, err := exec.Command(mkfs, "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", f.image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v: %s", err, out)
	}
	f.attach(t)
	if err := unix.Mount(f.device, f.Dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV, f.mount); err != nil {
		t.Skipf("ext4 on %s can't be mounted: %v", f.device, err)
	}
	t.Cleanup(func() { f.unmount(t) })
	return f
}

// attach finds a free loop device for the image. It becomes free again when the last mount
// and descriptor are gone.
func (f *FS) attach(t testing.TB) {
	t.Helper()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no loop devices: %v", err)
	}
	defer control.Close()
	for range 100 { // others may take one at the same time
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			t.Skipf("there is no free loop device: %v", err)
		}
		f.device = fmt.Sprintf("/dev/loop%d", n)
		if f.configure(t) {
			t.Cleanup(func() { f.keep.Close() })
			return
		}
	}
	t.Skip("other processes took every free loop device")
}

// configure attaches the image to the device, and returns false if the device is in use.
func (f *FS) configure(t testing.TB) bool {
	t.Helper()
	// Not with package os: its poller would query a file that this process itself serves,
	// with a call during which the runtime does not run other goroutines.
	image, err := unix.Open(f.image, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(image)
	dev, err := os.OpenFile(f.device, os.O_RDWR, 0)
	if err != nil {
		t.Skipf("the loop device can't be used: %v", err)
	}
	c := unix.LoopConfig{Fd: uint32(image), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
	if err := unix.IoctlLoopConfigure(int(dev.Fd()), &c); err != nil {
		dev.Close()
		if err != unix.EBUSY {
			t.Skipf("the loop device can't be used: %v", err)
		}
		return false
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(dev.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	f.keep, f.number = dev, fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))
	return true
}

// ioctl calls an ioctl on the file system.
func (f *FS) ioctl(number uint, arg int) error {
	d, err := os.Open(f.Dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.IoctlSetPointerInt(int(d.Fd()), number, arg)
}

// Freeze flushes the file system, and blocks writers until Thaw. It thaws automatically
// after atMost, so that a failing test unblocks everything.
func (f *FS) Freeze(t testing.TB, atMost time.Duration) {
	t.Helper()
	if err := f.ioctl(fiFreeze, 0); err != nil {
		t.Skipf("%s can't be frozen: %v", f.Kind, err)
	}
	f.frozen = true
	time.AfterFunc(atMost, func() { _ = f.ioctl(fiThaw, 0) }) // an error if already thawed
}

// Thaw ends Freeze.
func (f *FS) Thaw(t testing.TB) {
	t.Helper()
	f.frozen = false
	if err := f.ioctl(fiThaw, 0); err != nil && err != unix.EINVAL {
		t.Errorf("thawing: %v", err)
	}
}

// Shutdown makes every later access to the disk fail with EIO, permanently, as when the
// device is gone; how is FlushFirst or PowerCut.
func (f *FS) Shutdown(t testing.TB, how int) {
	t.Helper()
	if err := f.ioctl(ext4Shutdown, how); err != nil {
		t.Skipf("%s can't be shut down: %v", f.Kind, err)
	}
}

// Remount unmounts and mounts the file system, which replays the journal: the result is the
// state that a power cut at Shutdown would have left. No file of it may be open.
func (f *FS) Remount(t testing.TB) {
	t.Helper()
	if err := unix.Unmount(f.Dir, 0); err != nil {
		t.Fatalf("unmounting %s: %v", f.Dir, err)
	}
	if err := unix.Mount(f.device, f.Dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV, f.mount); err != nil {
		t.Fatalf("mounting %s again: %v", f.device, err)
	}
}

// Clone copies the disk, even while files on it are being written, and returns the path of
// the copy.
func (f *FS) Clone(t testing.TB) (image string) {
	t.Helper()
	f.Freeze(t, time.Minute)
	b, err := os.ReadFile(f.image)
	f.Thaw(t)
	image = filepath.Join(t.TempDir(), "image")
	if err := errors.Join(err, os.WriteFile(image, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	return image
}

// Swap replaces the disk by another, from Clone, with the same device number at the same
// path. It returns the previous one.
func (f *FS) Swap(t testing.TB, image string) (was string) {
	t.Helper()
	if err := unix.Unmount(f.Dir, 0); err != nil {
		t.Fatalf("unmounting %s: %v", f.Dir, err)
	}
	f.keep.Close()
	was, f.image = f.image, image
	for deadline := time.Now().Add(20 * time.Second); !f.configure(t); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Skipf("another process took %s", f.device)
		}
	}
	if err := unix.Mount(f.device, f.Dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV, f.mount); err != nil {
		t.Fatalf("mounting %s: %v", f.device, err)
	}
	return was
}

// Beside mounts another disk, from Clone, elsewhere and with a device of its own.
func Beside(t testing.TB, image string) *FS {
	t.Helper()
	f := &FS{Kind: "ext4", Dir: t.TempDir(), image: image}
	f.attach(t)
	f.mountDisk(t)
	return f
}

// Throttle limits the writes to the device, in bytes per second; 0: no limit. It uses the
// root group of the first version of cgroups, which also limits writeback.
func (f *FS) Throttle(t testing.TB, bytes int64) {
	t.Helper()
	const file = "/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device"
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s %d", f.number, bytes), 0); err != nil {
		t.Skipf("a device can't be made slow: %v", err)
	}
	if bytes != 0 {
		t.Cleanup(func() { _ = os.WriteFile(file, fmt.Appendf(nil, "%s 0", f.number), 0) })
	}
}
