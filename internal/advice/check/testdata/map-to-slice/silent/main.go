// A map that is iterated over, with as many lookups.
package main

import "fmt"

func main() {
	weights := map[int]int{}
	for i := range 10_000 {
		weights[i] = i % 7
	}
	sum := 0
	for range 1000 {
		for k, w := range weights {
			sum += k * w
		}
		for k := range 10_000 {
			sum += weights[k*7919%20_011]
		}
	}
	fmt.Println(sum)
}
