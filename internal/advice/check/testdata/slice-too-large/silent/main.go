// Lists have room for a thousand elements, and most of it is used.
package main

import "fmt"

const lists, used = 2_000, 1000

// index returns a list of places for each word.
func index() [][]int {
	all := make([][]int, lists)
	for i := range all {
		all[i] = make([]int, 0, 1024)
		for j := range used {
			all[i] = append(all[i], i+j+1)
		}
	}
	return all
}

func main() {
	sum := 0
	for range 8 {
		all := index()
		for range 20 {
			for _, list := range all {
				for _, place := range list {
					sum += place
				}
			}
		}
	}
	fmt.Println(sum)
}
