//go:build !linux

package sys

// ProcessClock is the CPU time of this process, which is not had cheaply here.
func ProcessClock() (ns int64, ok bool) { return 0, false }
