// A slice of pointers is walked, whose elements lie in another order.
package main

import (
	"fmt"
	"math/rand"
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
	rand.New(rand.NewSource(1)).Shuffle(elements, func(i, j int) { all[i], all[j] = all[j], all[i] })
	sum := 0
	for range 100 {
		sum += total(all)
	}
	fmt.Println(sum)
}
