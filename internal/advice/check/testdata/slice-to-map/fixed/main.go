// The map instead of the slice.
package main

import "fmt"

func main() {
	seen := map[int]struct{}{}
	again := 0
	for i := range 100_000 {
		v := i * 7919 % 10_007
		if _, ok := seen[v]; ok {
			again++
			continue
		}
		seen[v] = struct{}{}
	}
	fmt.Println(len(seen), again)
}
