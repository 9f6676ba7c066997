//go:build scope_pure || !(amd64 || (arm64 && linux))

package sys

import "sync/atomic"

func tsc() int64             { return 0 }
func getg() uintptr          { return 0 }
func tscg() (int64, uintptr) { return 0, 0 }
func counterInvariant() bool { return false }

const haveStubs = false

// AddUnless atomically adds n to a word, unless *over is set.
func AddUnless(over *uint32, word *uint64, n uint64) {
	if atomic.LoadUint32(over) == 0 {
		atomic.AddUint64(word, n)
	}
}

// SwapLocal is a compare-and-swap.
func SwapLocal(p *uint64, old, new uint64) bool { return atomic.CompareAndSwapUint64(p, old, new) }
