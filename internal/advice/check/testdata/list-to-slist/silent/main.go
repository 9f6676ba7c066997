// A list that gets elements in the middle, and is walked backwards, too.
package main

import (
	"container/list"
	"fmt"
)

func main() {
	sum := 0
	for range 1000 {
		l := list.New()
		for i := range 1000 {
			l.PushBack(1000 + 2*i)
		}
		for e := l.Front(); e != nil; e = e.Next() {
			e = l.InsertAfter(e.Value.(int)+1, e)
		}
		for e := l.Back(); e != nil; e = e.Prev() {
			sum += e.Value.(int)
		}
	}
	fmt.Println(sum)
}
