//go:build arm64 && linux && !scope_pure

package sys

//go:noescape
func tsc() int64

//go:noescape
func getg() uintptr

const haveStubs = true

// counterInvariant: the generic timer counts at one rate by architecture (Arm
// ARM, D12 "The Generic Timer"), and Linux lets user space read it.
func counterInvariant() bool { return true }
