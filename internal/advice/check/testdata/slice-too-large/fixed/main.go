// Lists have room for the six elements that they get.
package main

import "fmt"

const lists, used = 20_000, 6

// index returns a list of places for each word.
func index() [][]int {
	all := make([][]int, lists)
	for i := range all {
		all[i] = make([]int, 0, 6)
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
