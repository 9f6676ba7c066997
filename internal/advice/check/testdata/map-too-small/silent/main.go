// One hash table is cleared and filled again: it has its size from the beginning.
package main

import "fmt"

const entries = 200_000

// fill adds an entry for each of many keys.
func fill(m map[uint64]int) {
	clear(m)
	for i := range uint64(entries) {
		m[i*0x9e3779b97f4a7c15] = int(i)
	}
}

func main() {
	sum := 0
	m := make(map[uint64]int, entries)
	for range 60 {
		fill(m)
		sum += len(m) + m[0x9e3779b97f4a7c15]
	}
	fmt.Println(sum)
}
