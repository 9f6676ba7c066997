// The texts have numbers, which are used as keys instead.
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
	ids := map[string]int{}
	var names []int
	uses := map[int]int{}
	for i := range 500 {
		id := len(ids)
		ids[text(i)] = id
		names = append(names, id)
		uses[id] = i
	}
	sum := 0
	for i := range 3_000_000 {
		sum += uses[names[i*7919%500]]
	}
	fmt.Println(sum)
}
