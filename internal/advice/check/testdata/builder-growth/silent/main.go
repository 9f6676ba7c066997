// Short words that fit into a Builder's first allocation.
package main

import (
	"fmt"
	"strings"
)

//go:noinline
func page(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString("the-only-word ")
	}
	return b.String()
}

func main() {
	total := 0
	for range 3000000 {
		total += len(page(1))
	}
	fmt.Println(total)
}
