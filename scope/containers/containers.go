package containers

import "github.com/scopeview/scopeview/internal/advice/custom"

// Spec is what a container is.
type Spec struct {
	Name      string // of its type: the same for all that are one kind of container
	Table     bool   // it is a hash table: its elements are looked for in chains, or in places that follow
	Slots     int    // that it has to begin with: buckets, or places for elements
	SlotBytes int    // of memory that each takes; 0: a word
	Hinted    bool   // whoever makes it has said how many slots it has
}

// Instance is a container that is followed. The zero Instance is of one that is not; its methods do
// nothing. They may be called from any goroutine, and a copy is as good.
type Instance struct{ number uintptr }

// New follows a container, from its constructor on.
func New(s Spec) Instance {
	l := custom.Listening.Load()
	if l == nil {
		return Instance{}
	}
	return born(l, s)
}

// born is not inlined, so that New is.
//
//go:noinline
func born(l *custom.Listener, s Spec) Instance {
	return Instance{l.Born(constructor, (*custom.Spec)(&s))}
}

// constructor is how many frames who calls a constructor is above Born: those of born, New and that.
const constructor = 3

// Grow says that there are more slots, or fewer, and that elements were moved or copied for it.
func (i Instance) Grow(from, to, moved int) { i.tell(custom.Grow, from, to, moved) }

// Get says that an element was looked for, in how many places, and whether it was found.
func (i Instance) Get(places int, found bool) {
	switch {
	case i.number == 0:
	case found:
		tell(i.number, custom.Get, places, 0, 0)
	default:
		tell(i.number, custom.Miss, places, 0, 0)
	}
}

// Put says that an element was stored, in how many places a place was looked for, and how many
// elements there are then.
func (i Instance) Put(places, elements int) { i.tell(custom.Put, places, elements, 0) }

// Delete says the same of an element that was taken out.
func (i Instance) Delete(places, elements int) { i.tell(custom.Delete, places, elements, 0) }

// Chain says how many elements a bucket of a hash table has. The longest is shown.
func (i Instance) Chain(bucket, elements int) { i.tell(custom.Chain, bucket, elements, 0) }

// End says that the container is used no more. What is counted of it is kept; where it is not
// called, all of it is in the memory that is had for counting, until there is no more.
func (i Instance) End() { i.tell(custom.End, 0, 0, 0) }

func (i Instance) tell(op custom.Op, a, b, c int) {
	if i.number != 0 {
		tell(i.number, op, a, b, c)
	}
}

// tell is not inlined, so that its callers are.
//
//go:noinline
func tell(number uintptr, op custom.Op, a, b, c int) {
	if l := custom.Listening.Load(); l != nil {
		l.Tell(number, op, a, b, c)
	}
}
