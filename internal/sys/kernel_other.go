//go:build !linux

package sys

// Kernel is not told on this system.
func Kernel() string { return "" }
