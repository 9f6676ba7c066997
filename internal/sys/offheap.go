package sys

import "runtime"

// OffHeap returns n zero values of T, which has no pointers, outside of Go's heap: the
// collector of a program with a small heap would run more often for what the recorder
// has there. They are gone when owner can't be reached any more: who uses them keeps it
// alive. They are on the heap where nothing can be mapped, and for the race detector,
// which is blind elsewhere.
func OffHeap[T, O any](owner *O, n int) []T {
	if !Race {
		if v, err := reserve[T](n); err == nil {
			runtime.AddCleanup(owner, release[T], v)
			return v
		}
	}
	return make([]T, n)
}
