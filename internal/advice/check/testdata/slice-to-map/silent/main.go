// Short slices are searched often, and long ones once each: each would need a new map.
package main

import (
	"fmt"
	"slices"
)

func main() {
	words := []string{"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for"}
	found := 0
	for i := range 3_000_000 {
		if slices.Contains(words, words[i%len(words)]) {
			found++
		}
	}
	for i := range 20_000 {
		line := make([]int, 1000)
		for j := range line {
			line[j] = i + j*j
		}
		if slices.Contains(line, i+j2(i)) {
			found++
		}
	}
	fmt.Println(found)
}

func j2(i int) int { return i % 1000 * (i % 1000) }
