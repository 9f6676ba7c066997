// A sync.Map is filled once, and several goroutines read it and overwrite its values.
package main

import (
	"fmt"
	"sync"
)

const (
	workers = 4
	keys    = 1_000
	n       = 1_000_000
)

func main() {
	var squares sync.Map
	for i := range keys {
		squares.Store(i, i*i)
	}
	sums := make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			sum := 0
			for i := range n {
				k := (i*7919 + w) % keys
				if i%8 == 0 {
					squares.Store(k, k*k)
				}
				if v, ok := squares.Load(k); ok {
					sum += v.(int)
				}
			}
			sums[w] = sum
		})
	}
	wg.Wait()
	fmt.Println(sums[0] + sums[1] + sums[2] + sums[3])
}
