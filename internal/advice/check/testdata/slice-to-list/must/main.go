// 1024 numbers are inserted in front of a slice, as in the example of GCC's Profile Mode.
package main

import (
	"fmt"
	"slices"
)

func main() {
	sum := 0
	for range 10_000 {
		v := make([]int, 0, 1024)
		for i := range 1024 {
			v = slices.Insert(v, 0, i)
		}
		sum += v[0] - v[1023]
	}
	fmt.Println(sum)
}
