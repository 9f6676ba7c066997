// Pages of 80 kB in Builders that begin empty.
package main

import (
	"fmt"
	"strings"
)

//go:noinline
func page(words int) string {
	var b strings.Builder
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
