// A buffer is refilled before each sort.
package main

import (
	"cmp"
	"fmt"
	"slices"
)

func main() {
	var all []int
	sum, v := 0, uint32(1)
	for range 300 {
		all = all[:0]
		for range 5000 {
			v = v*1664525 + 1013904223
			all = append(all, int(v>>8))
		}
		slices.Sort(all)
		sum += all[len(all)/2]
		for i := range all {
			v = v*1664525 + 1013904223
			all[i] = int(v >> 8)
		}
		slices.SortFunc(all, func(a, b int) int { return cmp.Compare(b, a) })
		sum += all[len(all)/2]
	}
	fmt.Println(sum)
}
