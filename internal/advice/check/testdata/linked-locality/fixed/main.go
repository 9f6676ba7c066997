// A tree is walked whose nodes lie in one slice, in the order of the walk.
package main

import "fmt"

const nodes = 300_000

type node struct {
	left, right *node
	key         int
	value       [5]int
}

// free has the nodes that build takes.
var free []*node

// build makes a tree of the keys from low to high.
func build(low, high int) *node {
	if low >= high {
		return nil
	}
	mid := (low + high) / 2
	left := build(low, mid)
	n := free[mid]
	n.key, n.left, n.right = mid, left, build(mid+1, high)
	return n
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.left.sum() + n.key + n.right.sum()
}

func main() {
	slab := make([]node, nodes)
	for i := range slab {
		free = append(free, &slab[i])
	}
	root := build(0, nodes)
	sum := 0
	for range 50 {
		sum += root.sum()
	}
	fmt.Println(sum)
}
