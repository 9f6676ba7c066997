// Hash tables get two hundred thousand entries, and are made without a hint.
package main

import "fmt"

const entries = 200_000

// table returns a map with an entry for each of many keys.
func table() map[uint64]int {
	m := make(map[uint64]int)
	for i := range uint64(entries) {
		m[i*0x9e3779b97f4a7c15] = int(i)
	}
	return m
}

func main() {
	sum := 0
	for range 60 {
		m := table()
		sum += len(m) + m[0x9e3779b97f4a7c15]
	}
	fmt.Println(sum)
}
