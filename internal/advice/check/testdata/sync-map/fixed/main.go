// One goroutine counts words in a map with a lock, and most of them are new.
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
		var mu sync.Mutex
		lengths := map[int]int{}
		for i := range n {
			mu.Lock()
			lengths[i*7919+round] = i
			mu.Unlock()
		}
		for i := range n / 4 {
			mu.Lock()
			v, ok := lengths[i*7919+round]
			mu.Unlock()
			if ok {
				sum += v
			}
		}
	}
	fmt.Println(sum)
}
