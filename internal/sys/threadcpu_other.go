//go:build !linux

package sys

// ThreadCPU is not available on this system.
func ThreadCPU() (ns int64, tid int, ok bool) { return 0, 0, false }
