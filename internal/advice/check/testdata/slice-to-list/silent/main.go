// Elements are inserted and removed at the end; the slices that change in front are short.
package main

import (
	"fmt"
	"slices"
)

func main() {
	sum := 0
	for range 20_000 {
		v := make([]int, 0, 1024)
		for i := range 1024 {
			v = slices.Insert(v, len(v), i)
		}
		v = slices.Delete(v, 512, 1024)
		sum += v[0] - v[511]
	}
	for i := range 1_000_000 {
		v := []int{i, 2, 3}
		v = slices.Delete(v, 0, 1)
		sum += v[0]
	}
	fmt.Println(sum)
}
