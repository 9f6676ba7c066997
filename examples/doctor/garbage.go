package main

import (
	"strconv"

	"github.com/scopeview/scopeview/scope"
)

// element is a node of a document's tree.
type element struct {
	name       string
	value      uint64
	next, down *element
}

// elements are what a parser makes its trees of: those of an earlier tree, as long as
// there are some, and new ones.
type elements struct {
	used []*element
	n    int // of them in the current tree
}

func (e *elements) element(fresh bool) *element {
	if fresh {
		return new(element)
	}
	if e.n == len(e.used) {
		e.used = append(e.used, new(element))
	}
	e.n++
	*e.used[e.n-1] = element{}
	return e.used[e.n-1]
}

// parse makes a tree of n elements, the first of them fresh.
func (e *elements) parse(names []string, seed uint64, n, fresh int) *element {
	e.n = 0
	root := e.element(fresh > 0)
	last := root
	for i := 1; i < n; i++ {
		x := e.element(i < fresh)
		x.name = names[(seed+uint64(i))%uint64(len(names))]
		x.value = digest(seed, x.name)
		if i%8 == 0 {
			x.next, last = root.down, x
			root.down = x
		} else {
			x.down = last.down
			last.down = x
		}
	}
	return root
}

func (e *element) sum() (sum uint64) {
	for ; e != nil; e = e.next {
		sum += e.value
		for d := e.down; d != nil; d = d.down {
			sum += d.value
		}
	}
	return sum
}

// garbage parses documents into trees, while it keeps a large index, which the garbage
// collector has to look through each time. By strength, a larger part of each tree is
// newly allocated. Mended, a worker makes all of its trees of the same elements.
func garbage(o options) func() uint64 {
	const size = 400
	documents := o.many(40_000)
	names := make([]string, 64)
	for i := range names {
		names[i] = "an element with a long name, as they are in documents, " + strconv.Itoa(i)
	}
	index := make([]*element, 500_000)
	for i := range index {
		index[i] = &element{name: names[i%len(names)], down: index[i/2]}
	}
	fresh := o.part(size)
	return func() uint64 {
		var sums [processors]uint64
		inParallel(processors, func(worker int) {
			var e elements
			for n := worker; n < documents; n += processors {
				end := scope.Task("parse", n)
				tree := e.parse(names, uint64(n), size, fresh)
				sums[worker] += tree.sum() + uint64(len(index[n].name))
				end()
			}
		})
		return sums[0] + sums[1]
	}
}
