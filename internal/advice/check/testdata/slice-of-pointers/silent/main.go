// A slice of pointers is walked, whose elements lie in the same order.
package main

import (
	"fmt"
)

const elements = 500_000

type particle struct {
	mass  int
	other [7]int
}

func total(all []*particle) (sum int) {
	for _, p := range all {
		sum += p.mass
	}
	return sum
}

func main() {
	all := make([]*particle, elements)
	for i := range all {
		all[i] = &particle{mass: i}
	}
	sum := 0
	for range 100 {
		sum += total(all)
	}
	fmt.Println(sum)
}
