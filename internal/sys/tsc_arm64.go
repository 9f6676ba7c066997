//go:build arm64 && linux && !scope_pure

package sys

import "sync/atomic"

//go:noescape
func tsc() int64

//go:noescape
func getg() uintptr

//go:noescape
func tscg() (ticks int64, gp uintptr)

// AddUnless atomically adds n to a word, unless *over is set. Go does not preempt it in
// between: after setting over and stopping the world once, no goroutine is about to add.
//
//go:noescape
func AddUnless(over *uint32, word *uint64, n uint64)

const haveStubs = true

// counterInvariant returns true: the generic timer counts at one rate by architecture
// (Arm ARM, D12 "The Generic Timer"), and Linux lets user space read it.
func counterInvariant() bool { return true }

// SwapLocal is a compare-and-swap.
func SwapLocal(p *uint64, old, new uint64) bool { return atomic.CompareAndSwapUint64(p, old, new) }
