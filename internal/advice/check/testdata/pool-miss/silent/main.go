// A pool that is used as intended.
package main

import (
	"fmt"
	"sync"
)

var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

//go:noinline
func answer(i int) int {
	b := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(b)
	b[i%len(b)] = byte(i)
	return int(b[i%len(b)])
}

func main() {
	sum := 0
	for i := range 20_000_000 {
		sum += answer(i)
	}
	fmt.Println(sum)
}
