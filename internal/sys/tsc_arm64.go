//go:build arm64 && linux && !scope_pure

package sys

import "sync/atomic"

//go:noescape
func tsc() int64

//go:noescape
func getg() uintptr

//go:noescape
func tscg() (ticks int64, gp uintptr)

// AddUnless adds n to a word that several add to, unless over says otherwise. Go does not
// preempt it in between: who sets over and then stops the world once knows that nobody
// is about to add.
//
//go:noescape
func AddUnless(over *uint32, word *uint64, n uint64)

const haveStubs = true

// counterInvariant: the generic timer counts at one rate by architecture (Arm
// ARM, D12 "The Generic Timer"), and Linux lets user space read it.
func counterInvariant() bool { return true }

// SwapLocal is a compare-and-swap.
func SwapLocal(p *uint64, old, new uint64) bool { return atomic.CompareAndSwapUint64(p, old, new) }
