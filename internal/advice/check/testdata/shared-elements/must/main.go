// Goroutines count in one histogram: all store to the same elements.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

const items = 60_000_000

var histogram [8]atomic.Int64

func count(seed uint32) {
	x := seed
	for range items {
		x = x*1664525 + 1013904223
		histogram[x>>29].Add(1)
	}
}

func main() {
	var wg sync.WaitGroup
	for id := range 2 {
		wg.Go(func() { count(uint32(id)) })
	}
	wg.Wait()
	for i := range histogram {
		fmt.Println(histogram[i].Load())
	}
}
