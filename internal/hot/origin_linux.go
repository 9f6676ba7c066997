package hot

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
)

// How long a hot file without a writer is kept if its trace is not found: if the directory at its
// path is not the writer's, though this process sees the same file systems, and if it may not see
// that directory at all. A container that shares /dev/shm, but not its disk, may come back.
const (
	elsewhereFor = 10 * time.Minute
	unknownFor   = 24 * time.Hour
)

// Origin identifies the trace f at path, and the file systems of this process.
func Origin(f *os.File, path string) (o format.HotOrigin) {
	system(&o)
	*(*format.FileID)(o[6:]) = identity(unix.AT_FDCWD, filepath.Dir(path))
	*(*format.FileID)(o[9:]) = Identity(f)
	o[13] = diskOf(o[6])
	return o
}

// system sets the parts of an origin that all files of this process share.
func system(o *format.HotOrigin) {
	boot := begins("/proc/sys/kernel/random/boot_id")
	o[0], o[1] = binary.LittleEndian.Uint64(boot[:]), binary.LittleEndian.Uint64(boot[8:])
	o[2] = identity(unix.AT_FDCWD, "/proc/self/ns/mnt")[1]
	*(*format.FileID)(o[3:]) = identity(unix.AT_FDCWD, "/")
}

// begins returns the first bytes of a file of the kernel, or zeros if it does not exist.
func begins(path string) (b [16]byte) {
	if f, err := os.Open(path); err == nil {
		_, _ = f.Read(b[:])
		f.Close()
	}
	return b
}

// diskOf returns the number of the disk with that device number, or 0 if there is none, as for
// tmpfs and overlay, or the kernel does not provide it. Another disk may get the device number, and
// a clone has the same inodes and births, but disk numbers are not reused before the next boot.
func diskOf(device uint64) (n uint64) {
	dir := "/sys/dev/block/" + strconv.Itoa(int(device>>32)) + ":" + strconv.Itoa(int(uint32(device)))
	b := begins(dir + "/diskseq")
	if b[0] == 0 {
		b = begins(dir + "/../diskseq") // a partition has the number of its disk
	}
	for _, c := range b {
		if c >= '0' {
			n = 10*n + uint64(c-'0')
		}
	}
	return n
}

// originOf reads the origin of a hot file. booted reports whether it was created since this boot,
// here whether this process sees its writer's file systems. Numbers of namespaces are reused, but
// hardly with a root of the same birth. A device number that another disk has now becomes 0.
func originOf(f *os.File) (o format.HotOrigin, booted, here bool) {
	var b [format.HotOriginSize]byte
	if _, err := f.ReadAt(b[:], format.HotOriginOffset); err == nil {
		o.Decode(&b)
	}
	var now format.HotOrigin
	system(&now)
	booted = o[0] == now[0] && o[1] == now[1] && o[0] != 0
	if disk := diskOf(o[6]); booted && disk != o[13] { // disk numbers start again at each boot
		o[6] = 0 // so the trace's absence proves nothing
		if disk != 0 && o[13] != 0 {
			o[9] = 0 // and a file found may be a clone
		}
	}
	return o, booted, booted && o.System() == now.System() && o[2] != 0
}

// Identity identifies an open file.
func Identity(f *os.File) format.FileID { return identity(int(f.Fd()), "") }

// identity identifies a file by its path, or by its descriptor if path is empty.
func identity(fd int, path string) (id format.FileID) {
	var s unix.Statx_t
	if unix.Statx(fd, path, unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &s) == nil {
		id = format.FileID{uint64(s.Dev_major)<<32 | uint64(s.Dev_minor), s.Ino, 0}
		if s.Mask&unix.STATX_BTIME != 0 {
			id[2] = uint64(s.Btime.Sec)*1e9 + uint64(s.Btime.Nsec)
		}
	}
	return id
}

// same reports whether two are the same file. Another mount of its file system may have another
// device number.
func same(a, b format.FileID) bool {
	return a == b || a[1] == b[1] && a[2] == b[2] && a[2] != 0
}

// elsewhere reports whether the device is a disk, or a partition, other than the one of the trace,
// while that is still attached: then a file on the device is a clone.
func elsewhere(o *format.HotOrigin, booted bool, device uint64) bool {
	return booted && o[13] != 0 && o[6] != 0 && o[9] != device && diskOf(device) != 0
}

// gone returns nil if the trace of the hot file f, which was at path and was not found, no longer
// exists. Otherwise it returns errLater until a time has passed.
func gone(f *os.File, path string) error {
	o, booted, here := originOf(f)
	was, patience := o.Dir(), unknownFor
	at := identity(unix.AT_FDCWD, filepath.Dir(path))
	if at == was && at[1] != 0 && (here || booted && at[2] != 0) {
		return nil // the directory is the trace's
	}
	for at[1] == 0 && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		at = identity(unix.AT_FDCWD, path)
	}
	if here && at[0] == was[0] {
		patience = elsewhereFor // the directory was removed, or renamed
	}
	return wait(f, int64(o[12]), patience)
}

// wait returns nil if the hot file f was first seen without a writer longer than patience ago, and
// otherwise errLater. It records the time of the first sight.
func wait(f *os.File, seen int64, patience time.Duration) error {
	now := time.Now().UnixNano()
	switch age := now - seen; {
	case seen == 0 || age < 0:
		_, _ = newfile.WriteAt(f, binary.LittleEndian.AppendUint64(nil, uint64(now)), format.HotSeenOffset)
	case age > int64(patience):
		return nil
	}
	return errLater
}
