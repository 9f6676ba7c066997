//go:build !linux

package sys

// Kernel returns "" on this system.
func Kernel() string { return "" }
