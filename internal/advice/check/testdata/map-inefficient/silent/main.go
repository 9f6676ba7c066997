// Keys are short texts.
package main

import (
	"fmt"
	"strconv"
)

func main() {
	var names []string
	uses := map[string]int{}
	for i := range 500 {
		names = append(names, "object-"+strconv.Itoa(i))
		uses["object-"+strconv.Itoa(i)] = i
	}
	sum := 0
	for i := range 10_000_000 {
		sum += uses[names[i*7919%500]]
	}
	fmt.Println(sum)
}
