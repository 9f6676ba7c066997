// Pages of 80 kB in Buffers that begin empty.
package main

import (
	"bytes"
	"fmt"
)

//go:noinline
func page(words int) int {
	var b bytes.Buffer
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
