// One goroutine counts words in a sync.Map, and most of them are new.
package main

import (
	"fmt"
	"sync"
)

const (
	rounds = 20
	n      = 100_000
)

func main() {
	sum := 0
	for round := range rounds {
		var lengths sync.Map
		for i := range n {
			lengths.Store(i*7919+round, i)
		}
		for i := range n / 4 {
			if v, ok := lengths.Load(i*7919 + round); ok {
				sum += v.(int)
			}
		}
	}
	fmt.Println(sum)
}
