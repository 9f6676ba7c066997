package sys

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// Above Go's arenas, below the addresses that the kernel uses if the stack's size is not
	// limited, and below all others that it uses.
	rangesFrom, rangeEvery, rangesMost = 48 << 40, 2 << 40, 8
	// rangeStep is the number of bytes reserved at once.
	rangeStep = 16 << 20
	// rangePart is the inverse of the part of the remaining limit that our addresses may take.
	rangePart = 8
)

// NewRange returns a Range of size bytes of addresses; it touches no memory.
func NewRange(size int64) (*Range, error) {
	r := &Range{size: size}
	r.used.reserved = with(nil, 0, size)
	var err error
	for i := range int64(rangesMost) {
		if r.p, err = reserveAt(unsafe.Add(nil, rangesFrom+i*rangeEvery), size); err == nil {
			return r, r.Free()
		}
	}
	r.p, err = reserveAt(nil, size)
	return r, err
}

// reserveAt reserves the addresses at at if all are free; nil means any.
func reserveAt(at unsafe.Pointer, size int64) (unsafe.Pointer, error) {
	flags := unix.MAP_ANON | unix.MAP_PRIVATE | unix.MAP_NORESERVE
	if at != nil {
		flags |= unix.MAP_FIXED_NOREPLACE
	}
	p, err := unix.MmapPtr(-1, 0, at, uintptr(size), unix.PROT_NONE, flags)
	if err != nil {
		return nil, err
	}
	if at != nil && p != at { // Linux before 4.17
		_ = unix.MunmapPtr(p, uintptr(size))
		return nil, unix.EEXIST
	}
	// It must not count as locked memory, which may be limited.
	_ = unix.Munlock(unsafe.Slice((*byte)(p), size))
	return p, nil
}

// reserve reserves the bytes from at up to end; ranges is locked.
func (r *Range) reserve(at, end int64) error {
	if end > r.size {
		return ErrAddresses
	}
	for at &^= rangeStep - 1; at < end; at += rangeStep {
		ours, has := int64(rangeStep), false
		for _, s := range r.used.reserved {
			ours += s.to - s.from
			has = has || s.from <= at && at < s.to
		}
		if has {
			continue
		}
		if !leaves(ours) {
			return ErrAddresses
		}
		n := min(rangeStep, r.size-at)
		if _, err := reserveAt(unsafe.Add(r.p, at), n); err != nil {
			return err
		}
		r.used.reserved = with(r.used.reserved, at, at+n)
	}
	return nil
}

// leaves reports whether ours more bytes leave the process, under its current limit of
// addresses, most of what it could have without us. If its current use is unknown, it compares
// with the whole limit.
func leaves(ours int64) bool {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &l) != nil || l.Cur > 1<<62 {
		return true
	}
	has := int64(0)
	text, _ := os.ReadFile("/proc/self/statm")
	for i := 0; i < len(text) && text[i] != ' '; i++ {
		has = 10*has + int64(text[i]-'0')
	}
	return rangePart*ours <= int64(l.Cur)-has*int64(os.Getpagesize())
}
