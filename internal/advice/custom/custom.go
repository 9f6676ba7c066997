// Package custom is where package scope/containers tells what it is told of the containers of others. A
// program that does not count has nobody there who listens, and nothing of who would.
package custom

import "sync/atomic"

// Op is what happens to a container.
type Op uint8

// What happens, with its numbers.
const (
	Grow   Op = iota // from so many slots to so many; so many elements move
	Get              // so many places are looked at
	Miss             // the same, and nothing is found
	Put              // the same, and so many elements there are then
	Delete           // the same
	Chain            // of this bucket, so many elements
	End
)

// Spec is what a container is.
type Spec struct {
	Name      string
	Table     bool // a hash table
	Slots     int  // that it has to begin with
	SlotBytes int  // of memory that each takes
	Hinted    bool // whoever makes it has said how many it has
}

// Listener takes what is told.
type Listener struct {
	// Born begins to follow a container that is made so many frames above, and returns its number: 0
	// where it is not followed.
	Born func(above int, s *Spec) uintptr
	// Tell takes what happens to it.
	Tell func(number uintptr, op Op, a, b, c int)
}

// Listening is who listens: nil for nobody.
var Listening atomic.Pointer[Listener]
