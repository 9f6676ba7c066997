package pool

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/sys"
)

func (d file) grow(at, n int64) error {
	f, off := d.at(at)
	n *= ChunkSize
	if f == nil {
		return errNoFile
	}
	err := newfile.Room(f.Name(), off+n)
	if err == nil {
		err = retry(func() error { return unix.Fallocate(int(f.Fd()), 0, off, n) })
	}
	if err != nil {
		_ = cut(f, off)
		return fmt.Errorf("allocating %d bytes at %d in %s: %w", n, off, f.Name(), err)
	}
	return nil
}

// wipe keeps the blocks, where the file system can: if the disk fills meanwhile, the ring must not
// lose its room.
func (d file) wipe(at, n int64) error {
	page := int64(os.Getpagesize())
	for i := range n {
		if err := zero(d.f, (at+i)*ChunkSize, page); err != nil {
			return err
		}
	}
	return zero(d.f, at*ChunkSize, n*ChunkSize)
}

// wipeIn wipes one place, in any of the files.
func wipeIn(f *os.File, off int64) error {
	err := zero(f, off, int64(os.Getpagesize()))
	if err == nil {
		err = zero(f, off, ChunkSize)
	}
	return err
}

func zero(f *os.File, off, n int64) error {
	fd := int(f.Fd())
	err := retry(func() error {
		return unix.Fallocate(fd, unix.FALLOC_FL_ZERO_RANGE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
	if err == unix.EOPNOTSUPP {
		if err = retry(func() error {
			return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
		}); err == nil {
			err = retry(func() error { return unix.Fallocate(fd, 0, off, n) })
		}
	}
	if err != nil { // a seccomp filter may refuse the call: existing blocks can be written
		_, err = newfile.WriteAt(f, zeros[:min(n, int64(len(zeros)))], off)
		for done := int64(len(zeros)); err == nil && done < n; done += int64(len(zeros)) {
			_, err = newfile.WriteAt(f, zeros[:min(n-done, int64(len(zeros)))], off+done)
		}
	}
	if err != nil {
		return fmt.Errorf("overwriting %d bytes at %d in %s: %w", n, off, f.Name(), err)
	}
	return nil
}

func (d file) free() (avail, total int64, err error) {
	var s unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(int(d.f.Fd()), &s) }); err != nil {
		return 0, 0, err
	}
	if s.Blocks == 0 {
		return 0, 0, errors.ErrUnsupported // a tmpfs without a limit reports 0 blocks
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}

// writeBack makes the kernel write an extent to the disk, and waits as flags specify.
func (d file) writeBack(s extent, flags int) error {
	f, off := d.at(s.at)
	if f == nil {
		return nil // its file is closed
	}
	if off == ChunkSize { // the chunks can't be found without the file's header
		off, s.n = 0, s.n+1
	}
	err := retry(func() error {
		return unix.SyncFileRange(int(f.Fd()), off, s.n*ChunkSize, flags)
	})
	if err != nil && err != unix.ENOSYS {
		return fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	return nil
}

// written waits until an extent is on the disk, then drops it from the page cache, until which our
// container is charged for it.
func (d file) written(s extent) error {
	err := d.writeBack(s, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	if e := d.forget(s); err == nil && e != nil {
		err = fmt.Errorf("writing %s: %w", d.f.Name(), e)
	}
	return err
}

// forget drops an extent from the page cache.
func (d file) forget(s extent) error {
	f, off := d.at(s.at)
	if f == nil {
		return nil
	}
	return unix.Fadvise(int(f.Fd()), off, s.n*ChunkSize, unix.FADV_DONTNEED)
}

func (d file) cut(size int64) error { return cut(d.f, size) }

// cut sets the file's size. If the system refuses that, it extends a shorter file by a write: the
// file would be shorter than its header states.
func cut(f *os.File, size int64) error {
	err := newfile.Truncate(f, size)
	if err != nil {
		if s, e := f.Stat(); e == nil && s.Size() < size {
			_, err = newfile.WriteAt(f, zeros[:1], size-1)
		}
	}
	return err
}

func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

func lossOf(err error) format.Loss {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) || errors.Is(err, ErrNoSpace) || errors.Is(err, errMemory) || errors.Is(err, errShm) || err == errNumbers || errors.Is(err, sys.ErrAddresses) {
		return format.LossSpace
	}
	return format.LossIO
}
