package containers

import "github.com/scopeview/scopeview/internal/advice/custom"

// Spec describes a container.
type Spec struct {
	Name      string // of its type: the same for all containers of one kind
	Table     bool   // whether it is a hash table: its elements are looked up in chains or by probing
	Slots     int    // initial number of slots: buckets, or places for elements
	SlotBytes int    // bytes of memory per slot; 0: a word
	Hinted    bool   // whether the caller of the constructor has given the number of slots
}

// Instance is a container that is followed. The methods of the zero Instance, and of a container
// that is not followed, do nothing. They may be called from any goroutine, also on a copy.
type Instance struct{ number uintptr }

// New follows a container. Call it in the container's constructor.
func New(s Spec) Instance {
	l := custom.Listening.Load()
	if l == nil {
		return Instance{}
	}
	return born(l, s)
}

// born is not inlined, so that New can be.
//
//go:noinline
func born(l *custom.Listener, s Spec) Instance {
	return Instance{l.Born(constructor, (*custom.Spec)(&s))}
}

// constructor is the number of frames between Born and the constructor's caller: born, New and the
// constructor.
const constructor = 3

// Grow records that the number of slots changed, and how many elements were moved or copied for it.
func (i Instance) Grow(from, to, moved int) { i.report(custom.Grow, from, to, moved) }

// Get records a lookup: how many places were probed, and whether the element was found.
func (i Instance) Get(places int, found bool) {
	switch {
	case i.number == 0:
	case found:
		report(i.number, custom.Get, places, 0, 0)
	default:
		report(i.number, custom.Miss, places, 0, 0)
	}
}

// Put records that an element was stored: how many places were probed, and how many elements there
// are now.
func (i Instance) Put(places, elements int) { i.report(custom.Put, places, elements, 0) }

// Delete records that an element was removed: how many places were probed, and how many elements
// there are now.
func (i Instance) Delete(places, elements int) { i.report(custom.Delete, places, elements, 0) }

// Chain records the number of elements in a bucket of a hash table. The longest is shown.
func (i Instance) Chain(bucket, elements int) { i.report(custom.Chain, bucket, elements, 0) }

// End records that the container is no longer used. Its counts are kept. A container that is never
// ended keeps its share of the memory for counting, which is limited.
func (i Instance) End() { i.report(custom.End, 0, 0, 0) }

func (i Instance) report(op custom.Op, a, b, c int) {
	if i.number != 0 {
		report(i.number, op, a, b, c)
	}
}

// report is not inlined, so that its callers can be.
//
//go:noinline
func report(number uintptr, op custom.Op, a, b, c int) {
	if l := custom.Listening.Load(); l != nil {
		l.Report(number, op, a, b, c)
	}
}
