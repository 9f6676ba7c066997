// Tables are made without a hint for the five entries that they get.
package main

import "fmt"

const tables, used = 10_000, 5

// sessions returns a table for each of many users.
func sessions() []map[int]int {
	all := make([]map[int]int, tables)
	for i := range all {
		all[i] = make(map[int]int)
		for j := range used {
			all[i][j] = i
		}
	}
	return all
}

func main() {
	sum := 0
	for range 2 {
		all := sessions()
		for range 4 {
			for _, m := range all {
				for _, v := range m {
					sum += v
				}
			}
		}
	}
	fmt.Println(sum)
}
