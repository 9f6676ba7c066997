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

// Numbers of ioctl that package unix lacks.
const (
	fiFreeze     = 0xc0045877
	fiThaw       = 0xc0045878
	ext4Shutdown = 0x8004587d
)

// How Shutdown leaves what was not written.
const (
	FlushFirst = 0 // all that was written so far is on the device
	PowerCut   = 2 // nothing is that was not on it already, the journal's memory included
)

// Ext4 makes a file system of that many bytes in a file, and mounts it by a loop
// device. options are mount's; empty: none.
func Ext4(t testing.TB, size int64, options string) *FS {
	t.Helper()
	return Ext4In(t, t.TempDir(), size, options)
}

// Ext4In makes it in a file of that directory. Of the file nothing is allocated yet:
// in a directory that is full the device has I/O errors.
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
	// Without lazy initialization, which writes for minutes.
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

// attach finds a free loop device for the image. It is free again when whoever has it
// mounted or open is gone.
func (f *FS) attach(t testing.TB) {
	t.Helper()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no loop devices: %v", err)
	}
	defer control.Close()
	for range 100 { // others look for one too
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

// configure has the image be at the device, and is false where another one is.
func (f *FS) configure(t testing.TB) bool {
	t.Helper()
	// Not by package os: its poller would ask a file that this process serves itself, by a
	// call that the runtime does not let others run beside.
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

// ioctl is one on the file system.
func (f *FS) ioctl(number uint, arg int) error {
	d, err := os.Open(f.Dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.IoctlSetPointerInt(int(d.Fd()), number, arg)
}

// Freeze writes out what there is, and has whoever writes from then on wait until
// Thaw. It thaws by itself after so long, so that a test that fails frees everybody.
func (f *FS) Freeze(t testing.TB, atMost time.Duration) {
	t.Helper()
	if err := f.ioctl(fiFreeze, 0); err != nil {
		t.Skipf("%s can't be frozen: %v", f.Kind, err)
	}
	f.frozen = true
	time.AfterFunc(atMost, func() { _ = f.ioctl(fiThaw, 0) }) // thawed already is an error
}

// Thaw ends what Freeze began.
func (f *FS) Thaw(t testing.TB) {
	t.Helper()
	f.frozen = false
	if err := f.ioctl(fiThaw, 0); err != nil && err != unix.EINVAL {
		t.Errorf("thawing: %v", err)
	}
}

// Shutdown has every later access to the disk fail with EIO, for good, as when the
// device is gone; how is FlushFirst or PowerCut.
func (f *FS) Shutdown(t testing.TB, how int) {
	t.Helper()
	if err := f.ioctl(ext4Shutdown, how); err != nil {
		t.Skipf("%s can't be shut down: %v", f.Kind, err)
	}
}

// Remount mounts it anew, so that the journal is replayed: what is there then is what
// a power cut at Shutdown would have left. Nobody may have a file of it open.
func (f *FS) Remount(t testing.TB) {
	t.Helper()
	if err := unix.Unmount(f.Dir, 0); err != nil {
		t.Fatalf("unmounting %s: %v", f.Dir, err)
	}
	if err := unix.Mount(f.device, f.Dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV, f.mount); err != nil {
		t.Fatalf("mounting %s again: %v", f.device, err)
	}
}

// Clone copies the disk as it is now, also while files on it are written, and returns where
// the copy lies.
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

// Swap takes the disk out, and mounts another, which Clone made, in its place: with the same
// device number at the same path. It returns the one that was there.
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

// Beside mounts another disk, which Clone made, elsewhere by a device of its own.
func Beside(t testing.TB, image string) *FS {
	t.Helper()
	f := &FS{Kind: "ext4", Dir: t.TempDir(), image: image}
	f.attach(t)
	f.mountDisk(t)
	return f
}

// Throttle has the device take at most so many bytes a second; 0: as many as it can.
// It is the root group of the first version of cgroups that can do it for writes that
// nobody waits for.
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
