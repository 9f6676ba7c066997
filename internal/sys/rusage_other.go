//go:build !linux && !darwin

package sys

// ProcessCPU returns -1, -1: unknown on this system.
func ProcessCPU() (user, system int64) { return -1, -1 }
