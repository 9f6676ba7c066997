package samples

import (
	"cmp"
	queue "container/heap"
	"iter"
	"slices"
)

// late has samples whose scopes are not known yet, by goroutine. They lie in blocks: one
// list took three times the memory while it grew and was sorted.
type late map[uint64]*lateOf

// lateOf has those of a goroutine.
type lateOf struct {
	goid   uint64
	blocks [][]one
}

const lateBlock = 1024

func (l late) add(x *one) {
	of := l[x.goid]
	if of == nil {
		of = &lateOf{goid: x.goid}
		l[x.goid] = of
	}
	n := len(of.blocks)
	if n == 0 || len(of.blocks[n-1]) == cap(of.blocks[n-1]) {
		of.blocks = append(of.blocks, make([]one, 0, min(4<<min(n, 20), lateBlock)))
		n++
	}
	of.blocks[n-1] = append(of.blocks[n-1], *x)
}

// sort sorts the samples by time. Go's come nearly sorted.
func (of *lateOf) sort() {
	last := &of.blocks[0][0]
	for _, b := range of.blocks {
		for i := range b {
			if b[i].time < last.time {
				all := slices.Concat(of.blocks...)
				slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(a.time, b.time) })
				of.blocks = [][]one{all}
				return
			}
			last = &b[i]
		}
	}
}

// lateCursor iterates over them.
type lateCursor struct {
	goid uint64
	left [][]one
}

func (of *lateOf) cursor() lateCursor { return lateCursor{of.goid, slices.Clone(of.blocks)} }

// at returns the current sample; nil at the end.
func (c *lateCursor) at() *one {
	if len(c.left) == 0 {
		return nil
	}
	return &c.left[0][0]
}

func (c *lateCursor) next() {
	if c.left[0] = c.left[0][1:]; len(c.left[0]) == 0 {
		c.left = c.left[1:]
	}
}

// byTime yields all samples by time; those of one moment by goroutine.
func (l late) byTime() iter.Seq[*one] {
	return func(yield func(*one) bool) {
		h := make(lateHeap, 0, len(l))
		for _, of := range l {
			h = append(h, of.cursor())
		}
		queue.Init(&h)
		for len(h) > 0 {
			if !yield(h[0].at()) {
				return
			}
			if h[0].next(); h[0].at() == nil {
				queue.Pop(&h)
			} else {
				queue.Fix(&h, 0)
			}
		}
	}
}

// lateHeap is a heap with the earliest sample first.
type lateHeap []lateCursor

func (h lateHeap) Len() int { return len(h) }
func (h lateHeap) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(h[i].at().time, h[k].at().time), cmp.Compare(h[i].goid, h[k].goid)) < 0
}
func (h lateHeap) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *lateHeap) Push(x any)   { *h = append(*h, x.(lateCursor)) }
func (h *lateHeap) Pop() any {
	*h = (*h)[:len(*h)-1]
	return nil
}
