//go:build asan || msan

package sys

// Sanitized reports whether the program is built with -asan or -msan, which end a program that
// reads unallocated memory.
const Sanitized = true
