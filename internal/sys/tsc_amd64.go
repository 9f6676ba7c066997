//go:build amd64 && !scope_pure

package sys

//go:noescape
func tsc() int64

//go:noescape
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

//go:noescape
func getg() uintptr

//go:noescape
func tscg() (ticks int64, gp uintptr)

// SwapLocal is a compare-and-swap that no preemption can split, for a word that no other
// CPU stores into concurrently, except by misuse. It takes a third of the time of an
// atomic one.
//
//go:noescape
func SwapLocal(p *uint64, old, new uint64) bool

// AddUnless atomically adds n to a word, unless *over is set. Go does not preempt it in
// between: after setting over and stopping the world once, no goroutine is about to add.
//
//go:noescape
func AddUnless(over *uint32, word *uint64, n uint64)

const haveStubs = true

// counterInvariant reports whether the processor's time-stamp counter runs at one rate in
// every power state (CPUID 8000_0007H, EDX bit 8: Intel SDM vol. 3 "Invariant TSC", AMD
// APM vol. 3 "Advanced Power Management").
func counterInvariant() bool {
	if max, _, _, _ := cpuid(0x80000000, 0); max < 0x80000007 {
		return false
	}
	_, _, _, d := cpuid(0x80000007, 0)
	return d&(1<<8) != 0
}
