// Vectors of a million elements have that capacity from the beginning.
package main

import "fmt"

const elements = 1_000_000

// grown returns a vector of a million elements.
func grown() []int {
	v := make([]int, 0, elements)
	for i := range elements {
		v = append(v, i&7)
	}
	return v
}

func main() {
	sum := 0
	var all [24][]int
	for i := range all {
		all[i] = grown()
	}
	for _, v := range all {
		sum += len(v) + v[len(v)/3]
	}
	fmt.Println(sum)
}
