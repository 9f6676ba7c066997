//go:build !linux && !darwin

package sys

// ProcessCPU is not known on this system.
func ProcessCPU() (user, system int64) { return -1, -1 }
