//go:build !linux

package peer

// threadCPU is not available here: the pool records no CPU time.
func threadCPU() int64 { return 0 }
