// A cache that drops the least recently used entry: elements are moved and removed anywhere.
package main

import (
	"container/list"
	"fmt"
)

func main() {
	l, at := list.New(), map[int]*list.Element{}
	hits := 0
	for i := range 3_000_000 {
		k := i * i % 5003 % 1500
		if e := at[k]; e != nil {
			l.MoveToFront(e)
			hits++
			continue
		}
		at[k] = l.PushFront(k)
		if l.Len() > 1000 {
			delete(at, l.Remove(l.Back()).(int))
		}
	}
	fmt.Println(hits)
}
