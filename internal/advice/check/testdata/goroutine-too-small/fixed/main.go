// The numbers of a long list are squared by a goroutine for each half of them.
package main

import (
	"fmt"
	"sync"
)

const (
	rounds = 500
	size   = 2_000
	piece  = 1_000
)

func main() {
	list := make([]int, size)
	for round := range rounds {
		var wg sync.WaitGroup
		for from := 0; from < size; from += piece {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := from; i < from+piece; i++ {
					list[i] += (i + round) * (i + round) % 7
				}
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
