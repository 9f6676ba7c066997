// Each element is inserted at its place instead.
package main

import (
	"fmt"
	"slices"
)

func main() {
	var all []int
	sum := 0
	for i := range 20_000 {
		v := i * 7919 % 20_011
		at, _ := slices.BinarySearch(all, v)
		all = slices.Insert(all, at, v)
		sum += all[len(all)/2]
	}
	fmt.Println(sum)
}
