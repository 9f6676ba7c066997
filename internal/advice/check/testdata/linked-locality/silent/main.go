// A small tree is walked whose nodes come from a free list, in random order: it fits into
// the cache.
package main

import (
	"fmt"
	"math/rand"
)

const nodes = 300

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
	for range nodes {
		free = append(free, new(node))
	}
	rand.New(rand.NewSource(1)).Shuffle(nodes, func(i, j int) { free[i], free[j] = free[j], free[i] })
	root := build(0, nodes)
	sum := 0
	for range 50_000 {
		sum += root.sum()
	}
	fmt.Println(sum)
}
