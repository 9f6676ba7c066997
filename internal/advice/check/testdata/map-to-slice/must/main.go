// A map that is only iterated over, without lookups.
package main

import "fmt"

func main() {
	weights := map[int]int{}
	for i := range 10_000 {
		weights[i] = i % 7
	}
	sum := 0
	for range 3000 {
		for k, w := range weights {
			sum += k * w
		}
	}
	fmt.Println(sum)
}
