package gotrace

// Lately looks up a goroutine in a map, with a cache of recent lookups: few goroutines cause
// most of the events, and looking into the map each time takes a fifth of the reading.
type Lately[T any] struct {
	list [latelyMost]struct {
		id uint64
		of *T // nil: the entry is empty
	}
}

const latelyMost = 1 << 10

// Of returns the value of m for the goroutine, or nil if it has none. Every call must pass the
// same map.
func (l *Lately[T]) Of(m map[uint64]*T, goid uint64) *T {
	x := &l.list[goid%latelyMost]
	if x.of != nil && x.id == goid {
		return x.of
	}
	x.id, x.of = goid, m[goid]
	return x.of
}

// Forget must be called when the map's value of the goroutine is replaced or deleted.
func (l *Lately[T]) Forget(goid uint64) { l.list[goid%latelyMost].of = nil }
