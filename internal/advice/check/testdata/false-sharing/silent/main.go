// Two goroutines count in adjacent counters, but hardly ever: each adds its local count
// once.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

const items = 100_000_000

type counter struct {
	done atomic.Int64
}

var counters [2]counter

func work(id int, out *uint32) {
	x, n := uint32(id), int64(0)
	for range items {
		x = x*1664525 + 1013904223
		if x>>30 != 0 {
			n++
		}
	}
	counters[id].done.Add(n)
	*out = x
}

func main() {
	var wg sync.WaitGroup
	last := make([]uint32, 128)
	for id := range counters {
		wg.Go(func() { work(id, &last[id*64]) })
	}
	wg.Wait()
	fmt.Println(counters[0].done.Load(), counters[1].done.Load(), last[0], last[64])
}
