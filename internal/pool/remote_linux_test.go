package pool

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestG32Numbers checks Remote with statfs's numbers of file systems.
func TestG32Numbers(t *testing.T) {
	defer func(was func(int, *unix.Statfs_t) error) { fstatfs = was }(fstatfs)
	f, err := os.Create(t.TempDir() + "/trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	far, near := 0, 0
	for _, c := range []struct {
		number uint32
		name   string
	}{
		{0x6969, "NFS"},
		{0x517b, "SMB"},
		{0xfe534d42, "SMB"},
		{0xff534d42, "CIFS"},
		{0x65735546, "FUSE"}, // sshfs, virtiofs, gluster …
		{0x01021997, "9p"},   // virtual machines, WSL
		{0x00c36400, "Ceph"},
		{0x5346414f, "AFS"},
		{0x73757245, "Coda"},
		{0x0bd00bd0, "Lustre"},
		{0xef53, ""},     // ext4
		{0x58465342, ""}, // XFS
		{0x9123683e, ""}, // btrfs
		{0x01021994, ""}, // tmpfs
		{0x794c7630, ""}, // overlayfs
		{0xf2f52010, ""}, // F2FS
		{0x2fc12fc1, ""}, // ZFS
		{0, ""},
	} {
		fstatfs = func(fd int, s *unix.Statfs_t) error {
			if fd != int(f.Fd()) {
				t.Errorf("asked about descriptor %d, want %d", fd, f.Fd())
			}
			setType(&s.Type, c.number)
			return nil
		}
		name, ok := Remote(f)
		if name != c.name || ok != (c.name != "") {
			t.Errorf("%#x is %q (%t), want %q", c.number, name, ok, c.name)
		}
		if ok {
			far++
		} else {
			near++
		}
	}
	fstatfs = func(int, *unix.Statfs_t) error { return unix.EIO }
	if name, ok := Remote(f); ok {
		t.Errorf("a file system that does not answer is %q", name)
	}
	t.Logf("G32: of the numbers of %d remote file systems %d are known, of %d local ones none is taken for one", far, far, near)
}

// setType sets the number as the kernel does, whose type differs between machines: above 2^31 it
// may be negative.
func setType[T int32 | int64 | uint32](t *T, number uint32) { *t = T(int32(number)) }

// TestRemote checks Remote on the tests' own file system.
func TestRemote(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if name, ok := Remote(f); ok {
		t.Skipf("the tests' files are on %s", name)
	}
	f.Close()
	if name, ok := Remote(f); ok {
		t.Errorf("a file that is closed is on %q", name)
	}
}
