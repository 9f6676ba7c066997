// File names: strings are concatenated often, but never in a long chain.
package main

import (
	"fmt"
	"strconv"
)

//go:noinline
func name(dir string, i int) string {
	s := dir + "/" + strconv.Itoa(i)
	s += ".txt"
	return s + ".gz"
}

func main() {
	total := 0
	for i := range 2_000_000 {
		total += len(name("/var/lib/store/objects/by-number", i))
	}
	fmt.Println(total)
}
