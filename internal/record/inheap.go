//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/sys"
)

// inHeap is about what a recording has in Go's heap, in bytes, and without states: what 4 MB of
// heap were told to have more of them. TestInHeap holds it against what is there.
const inHeap = 160 << 10

// heapTold is where the runtime learns it; nil: it does not look.
var heapTold atomic.Pointer[uint64]

// TellHeap has the runtime know how much of the heap is the recorder's, by *bytes: Go's collector
// must not run more often for it in a program whose heap is at its minimum.
func TellHeap(bytes *uint64) {
	heapTold.Store(bytes)
	tellHeap(atomic.LoadUint32(&sys.Live.On) != Off)
}

func tellHeap(has bool) {
	if bytes := heapTold.Load(); bytes != nil {
		n := uint64(0)
		if has {
			n = inHeap
		}
		atomic.StoreUint64(bytes, n)
	}
}
