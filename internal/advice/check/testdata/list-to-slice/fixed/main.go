// The slice instead of the list.
package main

import "fmt"

func main() {
	var l []int
	for i := range 100_000 {
		l = append(l, i)
	}
	sum := 0
	for range 2000 {
		for _, v := range l {
			sum += v
		}
	}
	fmt.Println(sum)
}
