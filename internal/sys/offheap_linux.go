package sys

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserve maps n zero values of T; pages cost memory when they are touched.
func reserve[T any](n int) ([]T, error) {
	var t T
	p, err := reserveBytes(uintptr(n) * unsafe.Sizeof(t))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), n), nil
}

func reserveBytes(size uintptr) (unsafe.Pointer, error) {
	p, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err == nil {
		b := unsafe.Slice((*byte)(p), size)
		_ = unix.Munlock(b) // after mlockall, Mprotect would otherwise populate all pages
		if err = unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			_ = unix.MunmapPtr(p, size)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reserving %d bytes: %w", size, err)
	}
	return p, nil
}

func release[T any](v []T) {
	_ = unix.MunmapPtr(unsafe.Pointer(&v[0]), uintptr(len(v))*unsafe.Sizeof(v[0]))
}
