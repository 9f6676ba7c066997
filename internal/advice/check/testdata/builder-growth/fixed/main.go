// The same pages in Builders that are large enough from the beginning.
package main

import (
	"fmt"
	"strings"
)

//go:noinline
func page(words int) string {
	var b strings.Builder
	b.Grow(5 * words)
	for range words {
		b.WriteString("word ")
	}
	return b.String()
}

func main() {
	total := 0
	for range 4000 {
		total += len(page(16000))
	}
	fmt.Println(total)
}
