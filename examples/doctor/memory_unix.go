//go:build unix

package main

import "syscall"

// newMemory returns memory from the system, and a function that releases it.
func newMemory(n int) (buffer []byte, free func()) {
	if n > 0 {
		b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err == nil {
			return b, func() { _ = syscall.Munmap(b) }
		}
	}
	return make([]byte, n), func() {}
}
