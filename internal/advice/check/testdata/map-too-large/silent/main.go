// Tables are made for a thousand entries, and get nine hundred.
package main

import "fmt"

const tables, used = 1_000, 900

// sessions returns a table for each of many users.
func sessions() []map[int]int {
	all := make([]map[int]int, tables)
	for i := range all {
		all[i] = make(map[int]int, 1000)
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
