// Names that are checked by a regular expression, which is compiled for each.
package main

import (
	"fmt"
	"regexp"
)

//go:noinline
func valid(id int) bool {
	ok, _ := regexp.MatchString(`^item-[0-9]+(-[a-z]{2,8})*$`, fmt.Sprint("item-", id, "-sold"))
	return ok
}

func main() {
	n := 0
	for i := range 30_000 {
		if valid(i) {
			n++
		}
	}
	fmt.Println(n)
}
