// Goroutines that each work for some time, and goroutines that do little and wait for each
// other.
package main

import (
	"fmt"
	"sync"
)

const (
	n     = 10_000
	steps = 20_000
	stops = 20
)

func main() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	sum := 0
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := i
			for range steps {
				x = x*1103515245 + 12345
			}
			mu.Lock()
			sum += x & 1
			mu.Unlock()
		}()
	}
	wg.Wait()
	for range n {
		next := make(chan int)
		last := next
		for range stops {
			from := last
			to := make(chan int)
			go func() { to <- <-from + 1 }()
			last = to
		}
		next <- 0
		sum += <-last
	}
	fmt.Println(sum > 0)
}
