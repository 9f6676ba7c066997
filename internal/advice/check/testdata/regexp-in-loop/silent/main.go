// Names that are checked by regular expressions which all differ.
package main

import (
	"fmt"
	"regexp"
)

//go:noinline
func valid(id int) bool {
	ok, _ := regexp.MatchString(fmt.Sprint(`^item-`, id, `+(-[a-z]{2,8})*$`), "item-sold")
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
