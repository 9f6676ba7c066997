// The same names, with one regular expression.
package main

import (
	"fmt"
	"regexp"
)

var name = regexp.MustCompile(`^item-[0-9]+(-[a-z]{2,8})*$`)

//go:noinline
func valid(id int) bool {
	return name.MatchString(fmt.Sprint("item-", id, "-sold"))
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
