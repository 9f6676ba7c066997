package pool

import (
	"os"

	"golang.org/x/sys/unix"
)

// remote lists file systems whose files another machine, or another process, owns, by statfs's type
// number. A page of such a file may disappear: when the server is gone, the handle stale, or the
// file truncated elsewhere, a store into it raises a signal or waits for as long as the network
// does. A write by system call fails with an error instead.
var remote = [...]struct {
	magic uint32
	name  string
}{
	{unix.NFS_SUPER_MAGIC, "NFS"},
	{unix.SMB_SUPER_MAGIC, "SMB"},
	{unix.SMB2_SUPER_MAGIC, "SMB"},
	{unix.CIFS_SUPER_MAGIC, "CIFS"},
	{unix.FUSE_SUPER_MAGIC, "FUSE"},
	{unix.V9FS_MAGIC, "9p"},
	{unix.CEPH_SUPER_MAGIC, "Ceph"},
	{unix.AFS_SUPER_MAGIC, "AFS"},
	{unix.AFS_FS_MAGIC, "AFS"},
	{unix.CODA_SUPER_MAGIC, "Coda"},
	{unix.NCP_SUPER_MAGIC, "NCP"},
	{unix.OCFS2_SUPER_MAGIC, "OCFS2"},
	// Not in the kernel's public list of numbers.
	{0x0bd00bd0, "Lustre"},
	{0x47504653, "GPFS"},
	{0x01161970, "GFS2"},
	{0x19830326, "BeeGFS"},
	{0x20030528, "OrangeFS"},
	{0x786f4256, "a folder shared by VirtualBox"},
	{0xbacbacbc, "a folder shared by VMware"},
	{0x7c7c6673, "a folder shared by Parallels"},
	{0x53464846, "a folder shared by Windows"},
}

// fstatfs is replaced by tests: their machine has no such file systems.
var fstatfs = unix.Fstatfs

// Remote reports whether a file is on a file system that should not be mapped, and its name.
func Remote(f *os.File) (name string, ok bool) {
	var s unix.Statfs_t
	if err := retry(func() error { return fstatfs(int(f.Fd()), &s) }); err != nil {
		return "", false
	}
	for i := range remote {
		if remote[i].magic == uint32(s.Type) {
			return remote[i].name, true
		}
	}
	return "", false
}
