// Each goroutine counts in its own histogram; they are added up at the end.
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
	var own [8]int64
	for range items {
		x = x*1664525 + 1013904223
		own[x>>29]++
	}
	for i, n := range own {
		histogram[i].Add(n)
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
