// Each number of a long list is squared by a goroutine of its own.
package main

import (
	"fmt"
	"sync"
)

const (
	rounds = 500
	size   = 2_000
)

func main() {
	list := make([]int, size)
	for round := range rounds {
		var wg sync.WaitGroup
		for i := range list {
			wg.Add(1)
			go func() {
				defer wg.Done()
				list[i] += (i + round) * (i + round) % 7
			}()
		}
		wg.Wait()
	}
	sum := 0
	for _, v := range list {
		sum += v
	}
	fmt.Println(sum)
}
