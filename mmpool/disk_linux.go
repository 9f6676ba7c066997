package mmpool

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// addresses is the process's one range: every recording maps its file into it.
var addresses struct {
	sync.Mutex
	r    *sys.Range
	busy bool
	err  error
}

// disk maps the trace file itself.
type disk struct {
	f    *os.File
	r    *sys.Range
	size int64 // bytes mapped
	cold atomic.Int64

	// Of a ring: what detached addresses lead to, -1 if there is none. It is as long
	// as all addresses and has no pages, so that neighbours are one mapping, and
	// nothing is charged to a system that does not overcommit.
	nowhere int
}

func newDisk(f *os.File, limit int64, ring bool) (backing, error) {
	addresses.Lock()
	defer addresses.Unlock()
	if addresses.r == nil && addresses.err == nil {
		addresses.r, addresses.err = sys.NewRange(1 << 40)
	}
	if addresses.err != nil {
		return nil, addresses.err
	}
	if addresses.busy {
		return nil, errors.New("another pool is mapped")
	}
	d := &disk{f: f, r: addresses.r, size: addresses.r.Size(), nowhere: -1}
	if limit > 0 {
		d.size = min(d.size, limit)
	}
	if ring { // whose places are mapped one by one
		if fd, err := unix.MemfdCreate("scopeview", unix.MFD_CLOEXEC); err == nil {
			if unix.Ftruncate(fd, d.size) != nil {
				unix.Close(fd)
				fd = -1
			}
			d.nowhere = fd
		}
	} else {
		if err := d.r.Map(int(f.Fd()), 0, 0, d.size); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	addresses.busy = true
	return d, nil
}

func (d *disk) base() uintptr { return d.r.Base() }

func (d *disk) addresses() *sys.Range { return d.r }

func (d *disk) words(idx int64) []uint64 {
	if uint64(idx) >= uint64(d.size/ChunkSize) {
		return nil
	}
	return d.r.Words(idx*ChunkSize, ChunkSize)
}

// extend allocates first and populates then: fallocate answers a full disk
// with an errno, and populating a page that has its block can't fail for want
// of space. A failed fallocate may keep what it got (ext4): the file is cut
// back.
func (d *disk) extend(from, to int64) error {
	off, n := from*ChunkSize, (to-from)*ChunkSize
	if off+n > d.size {
		return fmt.Errorf("%s: %d bytes of addresses: %w", d.f.Name(), d.size, ErrNoSpace)
	}
	if err := d.grow(from, to-from); err != nil {
		return err
	}
	if err := d.populate(off, n); err != nil {
		_ = retry(func() error { return unix.Ftruncate(int(d.f.Fd()), off) })
		return err
	}
	return nil
}

func (d *disk) grow(at, n int64) error {
	off, n := at*ChunkSize, n*ChunkSize
	err := retry(func() error { return unix.Fallocate(int(d.f.Fd()), 0, off, n) })
	if err != nil {
		_ = retry(func() error { return unix.Ftruncate(int(d.f.Fd()), off) })
		return fmt.Errorf("allocating %d bytes at %d in %s: %w", n, off, d.f.Name(), err)
	}
	return nil
}

func (d *disk) attach(idx, at, n int64) error {
	if err := d.r.Map(int(d.f.Fd()), at*ChunkSize, idx*ChunkSize, n*ChunkSize); err != nil {
		return fmt.Errorf("%s: %w", d.f.Name(), err)
	}
	return d.populate(idx*ChunkSize, n*ChunkSize)
}

func (d *disk) detach(idx, n int64) error {
	off, size := idx*ChunkSize, n*ChunkSize
	if d.nowhere >= 0 {
		return d.r.Map(d.nowhere, off, off, size)
	}
	return d.r.Unmap(off, size, true)
}

// wipe keeps the blocks, where the file system can: a disk that is full
// meanwhile is no reason to lose what the ring has room for.
func (d *disk) wipe(at, n int64) error {
	page := int64(os.Getpagesize())
	for i := range n {
		if err := d.zero((at+i)*ChunkSize, page); err != nil {
			return err
		}
	}
	return d.zero(at*ChunkSize, n*ChunkSize)
}

func (d *disk) zero(off, n int64) error {
	fd := int(d.f.Fd())
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
	if err == unix.EOPNOTSUPP {
		_, err = d.f.WriteAt(zeros[:min(n, int64(len(zeros)))], off)
		for done := int64(len(zeros)); err == nil && done < n; done += int64(len(zeros)) {
			_, err = d.f.WriteAt(zeros[:min(n-done, int64(len(zeros)))], off+done)
		}
	}
	if err != nil {
		return fmt.Errorf("overwriting %d bytes at %d in %s: %w", n, off, d.f.Name(), err)
	}
	return nil
}

func (d *disk) populate(off, n int64) error {
	err := retry(func() error { return d.r.Populate(off, n) })
	if err == unix.EINVAL {
		// Before Linux 5.14 there is no way to fault pages in but to store
		// into them, which must not be done behind a writer's back: the
		// blocks are allocated, so workers take the faults, and live.
		d.cold.Add(n / int64(os.Getpagesize()))
		return nil
	}
	if err != nil {
		return fmt.Errorf("preparing %d bytes at %d in %s: %w", n, off, d.f.Name(), err)
	}
	return nil
}

func (d *disk) rearm(from, to int64) error {
	if from >= to {
		return nil
	}
	return d.populate(from*ChunkSize, (to-from)*ChunkSize)
}

// save starts the write-back and does not wait: the pages are dropped a tick
// later, when they are clean.
func (d *disk) save(s span, final bool) error {
	if !final {
		return nil // the file is the memory
	}
	err := retry(func() error {
		return unix.SyncFileRange(int(d.f.Fd()), s.at*ChunkSize, s.n*ChunkSize, unix.SYNC_FILE_RANGE_WRITE)
	})
	if err != nil && err != unix.ENOSYS {
		return fmt.Errorf("writing %s: %w", d.f.Name(), err)
	}
	return nil
}

func (d *disk) settle(s span) error {
	off, n := s.idx*ChunkSize, s.n*ChunkSize
	err := mmap.MMap(d.r.Bytes(off, n)).Flush()
	if e := d.r.Drop(off, n); err == nil {
		err = e
	}
	// The pages are out of our memory, and still charged to our container
	// until the page cache lets go of them too.
	if e := unix.Fadvise(int(d.f.Fd()), s.at*ChunkSize, n, unix.FADV_DONTNEED); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", d.f.Name(), err)
	}
	return nil
}

func (d *disk) unprepared() int64 { return d.cold.Load() }

func (d *disk) free() (avail, total int64, err error) {
	var s unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(int(d.f.Fd()), &s) }); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}

// close leaves memory that nobody reads where the file was: an end of the Go
// path that is late by a recording finds nothing there, and harms nobody.
func (d *disk) close(size int64) error {
	err := d.r.Unmap(0, d.size, true)
	if err != nil {
		// Strict overcommit forbids that much scratch memory.
		err = d.r.Unmap(0, d.size, false)
	}
	if d.nowhere >= 0 {
		unix.Close(d.nowhere)
	}
	addresses.Lock()
	addresses.busy = err != nil
	addresses.Unlock()
	if e := retry(func() error { return unix.Ftruncate(int(d.f.Fd()), size) }); err == nil && e != nil {
		err = fmt.Errorf("cutting %s: %w", d.f.Name(), e)
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
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) || errors.Is(err, ErrNoSpace) {
		return format.LossSpace
	}
	return format.LossIO
}
