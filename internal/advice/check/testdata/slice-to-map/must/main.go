// Numbers are searched for in a slice of all earlier ones.
package main

import (
	"fmt"
	"slices"
)

func main() {
	var seen []int
	again := 0
	for i := range 100_000 {
		v := i * 7919 % 10_007
		if slices.Contains(seen, v) {
			again++
			continue
		}
		seen = append(seen, v)
	}
	fmt.Println(len(seen), again)
}
