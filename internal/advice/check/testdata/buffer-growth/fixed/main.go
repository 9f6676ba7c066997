// The same pages in Buffers that are large enough from the beginning.
package main

import (
	"bytes"
	"fmt"
)

//go:noinline
func page(words int) int {
	var b bytes.Buffer
	b.Grow(5 * words)
	for range words {
		b.WriteString("word ")
	}
	return b.Len()
}

func main() {
	total := 0
	for range 4000 {
		total += page(16000)
	}
	fmt.Println(total)
}
