// Goroutines read one table, and each stores to elements of its own half of a result.
package main

import (
	"fmt"
	"sync"
)

const items = 60_000_000

var (
	table  [1024]uint32
	result [2 * 4096]uint32
)

func look(id int) {
	out := result[id*4096:][:4096]
	x := uint32(id)
	for i := range items {
		x = x*1664525 + 1013904223
		out[i&4095] += table[x>>22]
	}
}

func main() {
	for i := range table {
		table[i] = uint32(i) * 2654435761
	}
	var wg sync.WaitGroup
	for id := range 2 {
		wg.Go(func() { look(id) })
	}
	wg.Wait()
	fmt.Println(result[0], result[4095], result[4096], result[8191])
}
