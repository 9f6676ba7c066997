package sys

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Range is a range of addresses of which those that were used stay ours for the process's life.
// Files are mapped into it and unmapped from it, so a stale address never belongs to another
// mapping. It lies where other mappings are not placed, if that is free, and is reserved as it is
// used: reservations count towards the process's limit (ulimit -v), which may be set or lowered
// at any moment. Elsewhere all of it is reserved at once.
type Range struct {
	p    unsafe.Pointer
	size int64
	used stretches
}

type stretches struct {
	all      []stretch // ever mapped
	reserved []stretch
}

type stretch struct{ from, to int64 }

// ranges is held while a Range's used parts change: the Go path has copies of a Range.
var ranges sync.Mutex

// with adds a stretch. There are few, because chunks are mapped in order.
//
//go:noinline
func with(all []stretch, from, to int64) []stretch {
	for i := range all {
		if u := &all[i]; from <= u.to && to >= u.from {
			u.from, u.to = min(u.from, from), max(u.to, to)
			return all
		}
	}
	return append(all, stretch{from, to})
}

var (
	// ErrNoMap means that files can't be mapped here.
	ErrNoMap = errors.New("mapping files is not supported")
	// ErrAddresses means that the process has few addresses left, which it may need itself.
	ErrAddresses = errors.New("ulimit -v is nearly reached: raise it, or record less")
)

// Free releases the addresses: other mappings may reuse them.
func (r *Range) Free() error {
	all := r.used.reserved
	r.used.reserved = nil
	for _, u := range all {
		if err := unix.MunmapPtr(unsafe.Add(r.p, u.from), uintptr(u.to-u.from)); err != nil {
			return err
		}
	}
	return nil
}

// Size is the maximum number of bytes; Base is the first address.
func (r *Range) Size() int64   { return r.size }
func (r *Range) Base() uintptr { return uintptr(r.p) }

// Map maps n bytes of the file from off on to the addresses from at on. The file may be shorter:
// what lies beyond its end must not be accessed before it has grown.
func (r *Range) Map(fd int, off, at, n int64) error {
	u := &r.used
	ranges.Lock()
	err := r.reserve(at, at+n)
	if err == nil {
		_, err = unix.MmapPtr(fd, off, unsafe.Add(r.p, at), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_NORESERVE)
	}
	if err == nil {
		u.all = with(u.all, at, at+n)
	}
	ranges.Unlock()
	if err != nil {
		return fmt.Errorf("mapping %d bytes: %w", n, err)
	}
	// If mlockall has locked them, its pages, some 100 MiB, could not be dropped.
	b := r.Bytes(at, n)
	_ = unix.Munlock(b)
	// A core dump must not contain the trace, and a child of fork must not write to it. An old
	// kernel may not support these, so errors are ignored.
	_ = unix.Madvise(b, unix.MADV_DONTDUMP)
	_ = unix.Madvise(b, unix.MADV_DONTFORK)
	return nil
}

// Vacate unmaps the n bytes from at on, atomically: concurrent or later reads there return zeros
// and, if late is true, stores do no harm. Otherwise stores fault. nowhere, if it is not -1, is a
// file without content, longer than the range, for those stores.
//
// The replacement costs nothing, however long it is. Private writable memory would count as data
// (RLIMIT_DATA) and be charged on a system that does not overcommit. A mapping made after
// mlockall(MCL_FUTURE) is locked, and gets all its pages at once: so it is made without access,
// unlocked, given its access, and then moved to its place.
func (r *Range) Vacate(nowhere int, at, n int64, late bool) error {
	if !late {
		nowhere = -1 // zeros, and locking existing memory (MCL_CURRENT) takes no pages
	}
	// Addresses that were never reserved hold nothing of ours, and may be others': a Start that
	// got no addresses ends here.
	ranges.Lock()
	ours := append([]stretch(nil), r.used.reserved...)
	ranges.Unlock()
	for _, s := range ours {
		from, to := max(at, s.from), min(at+n, s.to)
		if err := r.vacateAll(nowhere, from, to-from, late); err != nil {
			return err
		}
	}
	return nil
}

func (r *Range) vacateAll(nowhere int, at, n int64, late bool) error {
	// In steps: what is moved takes addresses twice, of which the program may have few.
	for step := int64(64 << 20); n > 0; {
		step = min(step, n)
		err := r.vacate(nowhere, at, step, late)
		if err == nil {
			at, n = at+step, n-step
		} else if step = step / 4 &^ (1<<20 - 1); step == 0 { // addresses, or locked memory, may be short
			return fmt.Errorf("unmapping %d bytes: %w", n, err)
		}
	}
	return nil
}

func (r *Range) vacate(nowhere int, at, n int64, late bool) error {
	kind, off := unix.MAP_ANON|unix.MAP_PRIVATE, int64(0)
	if nowhere >= 0 {
		kind, off = unix.MAP_SHARED, at // so that neighbours are one mapping
	}
	size := uintptr(n)
	p, err := unix.MmapPtr(nowhere, off, nil, size, unix.PROT_NONE, kind|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	b := unsafe.Slice((*byte)(p), n)
	_ = unix.Munlock(b)
	if nowhere >= 0 {
		_ = unix.Madvise(b, unix.MADV_DONTDUMP)
		_ = unix.Madvise(b, unix.MADV_DONTFORK)
	}
	prot := unix.PROT_READ
	if late {
		prot |= unix.PROT_WRITE
	}
	if err = unix.Mprotect(b, prot); err == nil {
		_, err = unix.MremapPtr(p, size, unsafe.Add(r.p, at), size, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
	}
	if err != nil {
		_ = unix.MunmapPtr(p, size)
	}
	return err
}

// VacateAll vacates everything ever mapped at or after from.
func (r *Range) VacateAll(nowhere int, from int64, late bool) error {
	for _, u := range r.used.all {
		if at := max(u.from, from); at < u.to {
			if err := r.Vacate(nowhere, at, u.to-at, late); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bytes returns a view of mapped memory.
func (r *Range) Bytes(off, n int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.p, off)), n)
}

// Words is Bytes in words of eight bytes; off and n are multiples of 8.
func (r *Range) Words(off, n int64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(r.p, off)), n/8)
}

// Record returns the four words at off, a multiple of 8.
func (r *Range) Record(off int64) *[4]uint64 { return (*[4]uint64)(unsafe.Add(r.p, off)) }

// Populate makes the pages writable without storing into them. If the file has no room, it
// returns an error instead of raising a signal.
func (r *Range) Populate(off, n int64) error {
	return unix.Madvise(r.Bytes(off, n), unix.MADV_POPULATE_WRITE)
}

// Drop removes the pages from the process; the file keeps them.
func (r *Range) Drop(off, n int64) error {
	b := r.Bytes(off, n)
	err := unix.Madvise(b, unix.MADV_DONTNEED)
	if err == unix.EINVAL { // the program has locked all its memory
		if err = unix.Munlock(b); err == nil {
			err = unix.Madvise(b, unix.MADV_DONTNEED)
		}
	}
	return err
}
