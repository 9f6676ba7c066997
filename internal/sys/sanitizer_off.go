//go:build !asan && !msan

package sys

// Sanitized reports whether the program is built with -asan or -msan, which end a program that looks at
// memory that is nobody's.
const Sanitized = false
