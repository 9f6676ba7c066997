package main

import "github.com/scopeview/scopeview/scope/containers"

// Ring is a queue in a ring of slots, which grows when it is full.
type Ring struct {
	slots  []int
	first  int
	size   int
	follow containers.Instance
}

// NewRing returns a ring with n slots.
func NewRing(slots int) *Ring {
	return &Ring{
		slots:  make([]int, slots),
		follow: containers.New(containers.Spec{Name: "Ring", Slots: slots, SlotBytes: 8, Hinted: true}),
	}
}

// Len returns the number of elements.
func (r *Ring) Len() int { return r.size }

// Push puts an element at the end.
func (r *Ring) Push(x int) {
	if r.size == len(r.slots) {
		old := r.slots
		r.slots = make([]int, 2*len(old))
		n := copy(r.slots, old[r.first:])
		copy(r.slots[n:], old[:r.first])
		r.first = 0
		r.follow.Grow(len(old), len(r.slots), r.size)
	}
	r.slots[(r.first+r.size)%len(r.slots)] = x
	r.size++
	r.follow.Put(1, r.size)
}

// Pop takes the first element.
func (r *Ring) Pop() int {
	x := r.slots[r.first]
	r.first = (r.first + 1) % len(r.slots)
	r.size--
	r.follow.Delete(1, r.size)
	return x
}

// Close reports that the ring is no longer used.
func (r *Ring) Close() { r.follow.End() }
