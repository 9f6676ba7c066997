package sys

import "runtime"

// OffHeap returns n zero values of T, which must not contain pointers, outside of Go's
// heap: the collector of a program with a small heap would run more often because of
// them. They are freed when owner becomes unreachable, so their users must keep it
// alive. They are on the heap if memory can't be mapped, and with the race detector,
// which does not see other memory.
func OffHeap[T, O any](owner *O, n int) []T {
	if !Race {
		if v, err := reserve[T](n); err == nil {
			runtime.AddCleanup(owner, release[T], v)
			return v
		}
	}
	return make([]T, n)
}
