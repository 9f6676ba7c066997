//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/sys"
)

// inHeap is about what a recording has in Go's heap, in bytes, and once more as much for what it takes
// to look through that. Measured were 160 KiB, at 100,000 records a second; TestInHeap holds it
// against what there is.
const inHeap = 2 * 160 << 10

// heapUse is what is in the heap for a recording, and where the runtime learns it.
var heapUse struct {
	told atomic.Pointer[uint64] // nil: it does not look
	more atomic.Int64           // beside inHeap, by collectors
}

// TellHeap has the runtime know by *bytes how much of the heap is the recorder's: Go's collector must
// not run more often for it in a program whose heap is at its minimum.
func TellHeap(bytes *uint64) {
	heapUse.told.Store(bytes)
	tellHeap(atomic.LoadUint32(&sys.Live.On) != Off)
}

// UseHeap says that a collector has so many more bytes in the heap, or with a number below 0 fewer.
func UseHeap(bytes int64) {
	heapUse.more.Add(bytes)
	tellHeap(atomic.LoadUint32(&sys.Live.On) != Off)
}

func tellHeap(recording bool) {
	if told := heapUse.told.Load(); told != nil {
		n := heapUse.more.Load()
		if recording {
			n += inHeap
		}
		atomic.StoreUint64(told, uint64(max(n, 0)))
	}
}
