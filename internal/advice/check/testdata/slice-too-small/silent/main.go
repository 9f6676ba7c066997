// One vector is filled with a million elements again and again: it grows to that only once.
package main

import "fmt"

const elements = 1_000_000

// filled returns v with a million elements.
func filled(v []int) []int {
	v = v[:0]
	for i := range elements {
		v = append(v, i&7)
	}
	return v
}

func main() {
	sum := 0
	v := make([]int, 0, elements)
	for range 24 {
		v = filled(v)
		sum += len(v) + v[len(v)/3]
	}
	fmt.Println(sum)
}
