// The map instead of the sorted slice.
package main

import "fmt"

func main() {
	seen := map[int]struct{}{}
	again := 0
	for i := range 150_000 {
		v := i * 7919 % 100_003
		if _, found := seen[v]; found {
			again++
			continue
		}
		seen[v] = struct{}{}
	}
	fmt.Println(len(seen), again)
}
