// A list that is only appended to and walked.
package main

import (
	"container/list"
	"fmt"
)

func main() {
	l := list.New()
	for i := range 100_000 {
		l.PushBack(i)
	}
	sum := 0
	for range 2000 {
		for e := l.Front(); e != nil; e = e.Next() {
			sum += e.Value.(int)
		}
	}
	fmt.Println(sum)
}
