package pool

import (
	"fmt"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/unix"
)

// disk maps the trace file itself.
type disk struct {
	file
	*mapped
}

func newDisk(p *Pool, o *Options) (backing, error) {
	var m *mapped
	var err error
	if o.Apart {
		m, err = newApart(p, o.Limit)
	} else {
		m, err = newMapped(p, o, o.Ring.bytes > 0)
	}
	if err != nil {
		return nil, err
	}
	return &disk{p.file, m}, nil
}

func (d *disk) spare() (int64, error) { return maxSpare, nil }

// memory counts nothing: the file's pages belong to the page cache, which the kernel reclaims,
// except where the whole file is in memory.
func (d *disk) memory() int64 { return 0 }

func (d *disk) evict(idx, at int64) {}

// attach maps places that are allocated: fallocate has answered a full disk with an errno, and
// populating a page that has its block can't fail for want of space.
func (d *disk) attach(idx, at, n int64) error {
	f, off := d.at(at)
	if f == nil {
		return errNoFile
	}
	if err := d.fits(idx + n); err != nil {
		return err
	}
	if err := d.r.Map(int(f.Fd()), off, idx*ChunkSize, n*ChunkSize); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return d.populate(idx*ChunkSize, n*ChunkSize)
}

func (d *disk) rearm(idx, n int64) error { return d.populate(idx*ChunkSize, n*ChunkSize) }

// save starts the write-back and does not wait: the pages are dropped one round later, when they
// are clean.
func (d *disk) save(s extent, final bool) error {
	if !final {
		return nil // the file is the memory
	}
	return d.writeBack(s, unix.SYNC_FILE_RANGE_WRITE)
}

func (d *disk) drop(s extent) error {
	off, n := s.idx*ChunkSize, s.n*ChunkSize
	err := mmap.MMap(d.r.Bytes(off, n)).Flush()
	if e := d.r.Drop(off, n); err == nil {
		err = e
	}
	// The pages are out of our memory, but still charged to our container until the page cache
	// drops them too.
	if e := d.forget(s); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", d.f.Name(), err)
	}
	return nil
}

func (d *disk) close(size int64) error {
	err := d.release()
	if e := d.cut(size); err == nil {
		err = e
	}
	return err
}
