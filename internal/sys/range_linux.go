package sys

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Range is a stretch of addresses that belongs to us for the process's life.
// Files are mapped into it and unmapped from it, so a stale address never
// belongs to anyone else.
type Range struct {
	p    unsafe.Pointer
	size int64
}

// ErrNoMap says that files can't be mapped here.
var ErrNoMap = errors.New("mapping files is not supported")

// NewRange reserves up to size bytes of addresses, less where the process's
// limits (ulimit -v) forbid it; it touches no memory.
func NewRange(size int64) (*Range, error) {
	var err error
	for ; size >= 1<<30; size /= 4 {
		var p unsafe.Pointer
		p, err = unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		if err == nil {
			return &Range{p, size}, nil
		}
	}
	return nil, fmt.Errorf("reserving addresses: %w", err)
}

// Size is the number of bytes reserved; Base their first address.
func (r *Range) Size() int64   { return r.size }
func (r *Range) Base() uintptr { return uintptr(r.p) }

// Map maps n bytes of the file from off on to the addresses from at on. The
// file may be shorter: what lies behind its end must not be touched before it
// has grown.
func (r *Range) Map(fd int, off, at, n int64) error {
	if at+n > r.size {
		return fmt.Errorf("mapping %d bytes: only %d are reserved", at+n, r.size)
	}
	if _, err := unix.MmapPtr(fd, off, unsafe.Add(r.p, at), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_NORESERVE); err != nil {
		return fmt.Errorf("mapping %d bytes: %w", n, err)
	}
	// A core dump does not want the trace, and a child of fork must not write
	// into it. Both are wishes: an old kernel may not know them.
	b := r.Bytes(at, n)
	_ = unix.Madvise(b, unix.MADV_DONTDUMP)
	_ = unix.Madvise(b, unix.MADV_DONTFORK)
	return nil
}

// Unmap takes the file out of the n bytes from at on. With scratch, memory that
// nobody reads takes its place, for writers that could not be waited for.
func (r *Range) Unmap(at, n int64, scratch bool) error {
	prot := unix.PROT_NONE
	if scratch {
		prot = unix.PROT_READ | unix.PROT_WRITE
	}
	_, err := unix.MmapPtr(-1, 0, unsafe.Add(r.p, at), uintptr(n), prot, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("unmapping %d bytes: %w", n, err)
	}
	return nil
}

// Bytes and Words are views of mapped memory.
func (r *Range) Bytes(off, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.p, off)), n)
}

// Words is Bytes in words of eight bytes; off and n are multiples of 8.
func (r *Range) Words(off, n int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(r.p, off)), n/8)
}

// Record is the four words at off, a multiple of 8.
func (r *Range) Record(off int64) *[4]uint64 { return (*[4]uint64)(unsafe.Add(r.p, off)) }

// Populate makes the pages writable without storing into them. It returns an
// error, and sends no signal, where the file has no room.
func (r *Range) Populate(off, n int64) error {
	return unix.Madvise(r.Bytes(off, n), unix.MADV_POPULATE_WRITE)
}

// Drop takes the pages out of the process; the file keeps them.
func (r *Range) Drop(off, n int64) error {
	return unix.Madvise(r.Bytes(off, n), unix.MADV_DONTNEED)
}
