package sys

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// Between what Go takes, and the kernel where the stack's size is not limited, below it, and
	// what the kernel takes elsewhere above.
	rangesFrom, rangeEvery, rangesMost = 48 << 40, 2 << 40, 8
	// rangeStep is how many bytes are reserved at once.
	rangeStep = 16 << 20
	// rangePart is which part of what a limit leaves may be as much as is ours.
	rangePart = 8
)

// NewRange has size bytes of addresses; it touches no memory.
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

// reserveAt takes these addresses, if nobody has one of them; nil are any.
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
	// It must not count as locked memory, of which the program may not have more.
	_ = unix.Munlock(unsafe.Slice((*byte)(p), size))
	return p, nil
}

// reserve has the bytes up to end be ours; ranges is locked.
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

// leaves reports whether so many bytes more of ours leave the process, by its limit of addresses
// as it is now, most of what it could have without us. Where what it has is unknown that is of
// all of the limit.
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
