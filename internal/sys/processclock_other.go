//go:build !linux

package sys

// ProcessClock is not available on this system.
func ProcessClock() (ns int64, ok bool) { return 0, false }
