//go:build !scope_off

package record

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/sys"
)

// inHeap is the approximate size of a recording in Go's heap, in bytes, doubled for the cost of
// scanning it. 160 KiB were measured, at 100,000 records per second; TestInHeap compares it with
// the actual size.
const inHeap = 2 * 160 << 10

// heapUse is the recording's part of the heap, and the variable from which the runtime reads it.
var heapUse struct {
	told atomic.Pointer[uint64] // nil: the runtime does not read it
	more atomic.Int64           // collectors' bytes, beyond inHeap
}

// TellHeap makes *bytes the variable from which the runtime learns how much of the heap is the
// recorder's: Go's collector must not run more often because of it in a program whose heap is at
// its minimum.
func TellHeap(bytes *uint64) {
	heapUse.told.Store(bytes)
	tellHeap(atomic.LoadUint32(&sys.Live.On) != Off)
}

// UseHeap adds bytes, which may be negative, to the collectors' part of the heap.
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
