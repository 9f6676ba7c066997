// Buffers that come from a pool, and are never put back.
package main

import (
	"fmt"
	"sync"
)

var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

//go:noinline
func answer(i int) int {
	b := buffers.Get().(*[16 << 10]byte)
	b[i%len(b)] = byte(i)
	return int(b[i%len(b)])
}

func main() {
	sum := 0
	for i := range 300_000 {
		sum += answer(i)
	}
	fmt.Println(sum)
}
