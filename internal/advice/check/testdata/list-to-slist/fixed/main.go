// A list with one pointer per element instead.
package main

import "fmt"

type node struct {
	next  *node
	value int
}

func main() {
	sum := 0
	for range 2000 {
		var first *node
		end := &first
		for i := range 1000 {
			*end = &node{value: 1000 + 2*i}
			end = &(*end).next
		}
		for e := first; e != nil; e = e.next {
			e.next = &node{e.next, e.value + 1}
			e = e.next
		}
		for e := first; e != nil; e = e.next {
			sum += e.value
		}
	}
	fmt.Println(sum)
}
