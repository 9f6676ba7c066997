// Sorted input is always inserted at the end; and insertions in front need no search.
package main

import (
	"fmt"
	"slices"
)

func main() {
	var times []int
	for i := range 2_000_000 {
		at, _ := slices.BinarySearch(times, i)
		times = slices.Insert(times, at, i)
	}
	var front []int
	for i := range 20_000 {
		front = slices.Insert(front, 0, i)
	}
	fmt.Println(len(times), times[77], front[77])
}
