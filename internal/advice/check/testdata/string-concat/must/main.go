// A list of numbers, built by adding to a string: each step copies all of it.
package main

import (
	"fmt"
	"strconv"
)

//go:noinline
func list(n int) string {
	s := ""
	for i := range n {
		s += strconv.Itoa(i) + ", "
	}
	return s
}

func main() {
	total := 0
	for range 40 {
		total += len(list(4000))
	}
	fmt.Println(total)
}
