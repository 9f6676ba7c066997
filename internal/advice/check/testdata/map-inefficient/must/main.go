// Keys are texts of 2 kB, which each lookup hashes and compares.
package main

import (
	"fmt"
	"strconv"
	"strings"
)

// text returns a long name of a number.
func text(i int) string {
	return strings.Repeat("a/path/of/a/deep/tree/", 100) + strconv.Itoa(i)
}

func main() {
	var names []string
	uses := map[string]int{}
	for i := range 500 {
		names = append(names, text(i))
		uses[text(i)] = i
	}
	sum := 0
	for i := range 3_000_000 {
		sum += uses[names[i*7919%500]]
	}
	fmt.Println(sum)
}
