package gotrace

// Lately finds what a map has of a goroutine. It remembers those that it was asked for lately:
// few goroutines do most of what is told, and asking the map each time takes a fifth of reading.
type Lately[T any] struct {
	list [latelyMost]struct {
		id uint64
		of *T // nil: nothing is remembered
	}
}

const latelyMost = 1 << 10

// Of is what m has of a goroutine; nil: nothing. It is always asked with the same map.
func (l *Lately[T]) Of(m map[uint64]*T, goid uint64) *T {
	x := &l.list[goid%latelyMost]
	if x.of != nil && x.id == goid {
		return x.of
	}
	x.id, x.of = goid, m[goid]
	return x.of
}

// Forget is called when the map has something else of the goroutine, or nothing any more.
func (l *Lately[T]) Forget(goid uint64) { l.list[goid%latelyMost].of = nil }
