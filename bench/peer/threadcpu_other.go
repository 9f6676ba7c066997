//go:build !linux

package peer

// threadCPU is not to be had here: the pool with CPU time has none.
func threadCPU() int64 { return 0 }
