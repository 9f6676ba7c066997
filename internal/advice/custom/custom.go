// Package custom passes events of custom containers from package scope/containers to package
// count. A program that does not count has no listener, and no code of package count.
package custom

import "sync/atomic"

// Op is an operation on a container.
type Op uint8

// The operations, with their numbers.
const (
	Grow   Op = iota // old and new number of slots, elements moved
	Get              // places probed
	Miss             // places probed, without success
	Put              // places probed, elements afterwards
	Delete           // places probed, elements afterwards
	Chain            // bucket, number of its elements
	End
)

// Spec describes a container.
type Spec struct {
	Name      string
	Table     bool // a hash table
	Slots     int  // initial number
	SlotBytes int  // bytes of memory per slot
	Hinted    bool // its creator has specified the size
}

// Listener receives the events.
type Listener struct {
	// Born begins to follow a container that is created above frames up the stack, and
	// returns its number: 0 if it is not followed.
	Born func(above int, s *Spec) uintptr
	// Report handles an operation on it.
	Report func(number uintptr, op Op, a, b, c int)
}

// Listening is the listener; nil if there is none.
var Listening atomic.Pointer[Listener]
