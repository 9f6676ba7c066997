// A slice is sorted as a whole after each append.
package main

import (
	"fmt"
	"slices"
)

func main() {
	var all []int
	sum := 0
	for i := range 20_000 {
		all = append(all, i*7919%20_011)
		slices.Sort(all)
		sum += all[len(all)/2]
	}
	fmt.Println(sum)
}
