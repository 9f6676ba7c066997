// A slice of the entries instead.
package main

import "fmt"

type entry struct{ key, weight int }

func main() {
	var weights []entry
	for i := range 10_000 {
		weights = append(weights, entry{i, i % 7})
	}
	sum := 0
	for range 3000 {
		for _, e := range weights {
			sum += e.key * e.weight
		}
	}
	fmt.Println(sum)
}
