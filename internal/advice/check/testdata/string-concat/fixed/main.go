// The same list, built in a strings.Builder.
package main

import (
	"fmt"
	"strconv"
	"strings"
)

//go:noinline
func list(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(i))
		b.WriteString(", ")
	}
	return b.String()
}

func main() {
	total := 0
	for range 40 {
		total += len(list(4000))
	}
	fmt.Println(total)
}
