// Goroutines add up prices from a map that no longer changes, under a sync.Mutex.
package main

import (
	"fmt"
	"sync"
)

const (
	prices  = 1 << 10
	workers = 8
	orders  = 50_000 // per worker
	items   = 200    // per order
)

type shop struct {
	mu     sync.Mutex
	prices map[string]int
}

func (s *shop) total(order []string) (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range order {
		sum += s.prices[item]
	}
	return sum
}

func main() {
	s := shop{prices: map[string]int{}}
	names := make([]string, prices)
	for i := range names {
		names[i] = fmt.Sprintf("an item of the shop with the number %d", i)
		s.mu.Lock()
		s.prices[names[i]] = i
		s.mu.Unlock()
	}
	var wg sync.WaitGroup
	sums := make([]int, workers)
	for id := range sums {
		wg.Go(func() {
			sum := 0
			for i := range orders {
				at := (id*orders + i) * 7 % (prices - items)
				sum += s.total(names[at : at+items])
			}
			sums[id] = sum
		})
	}
	wg.Wait()
	fmt.Println(sums)
}
