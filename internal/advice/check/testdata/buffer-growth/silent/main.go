// Short words that fit into a Buffer's first allocation.
package main

import (
	"bytes"
	"fmt"
)

//go:noinline
func page(words int) int {
	var b bytes.Buffer
	for range words {
		b.WriteString("the-only-word ")
	}
	return b.Len()
}

func main() {
	total := 0
	for range 3000000 {
		total += page(1)
	}
	fmt.Println(total)
}
