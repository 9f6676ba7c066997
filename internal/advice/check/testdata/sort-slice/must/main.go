// sort.Slice swaps records by reflection.
package main

import (
	"fmt"
	"sort"
)

type record struct {
	key  int
	name string
}

func fill(all []record, v uint32) uint32 {
	for i := range all {
		v = v*1664525 + 1013904223
		all[i] = record{key: int(v >> 8)}
	}
	return v
}

func main() {
	all := make([]record, 10_000)
	sum, v := 0, uint32(1)
	for range 200 {
		v = fill(all, v)
		sort.Slice(all, func(i, j int) bool { return all[i].key < all[j].key })
		sum += all[len(all)/2].key
	}
	fmt.Println(sum)
}
