// A slice is kept sorted only to test membership; the order is not used.
package main

import (
	"fmt"
	"slices"
)

func main() {
	var seen []int
	again := 0
	for i := range 150_000 {
		v := i * 7919 % 100_003
		at, found := slices.BinarySearch(seen, v)
		if found {
			again++
			continue
		}
		seen = slices.Insert(seen, at, v)
	}
	fmt.Println(len(seen), again)
}
