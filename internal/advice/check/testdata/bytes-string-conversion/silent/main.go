// Conversions that the compiler makes without a copy, and one that costs little beside the
// rest.
package main

import (
	"bytes"
	"fmt"
)

//go:noinline
func fields(line []byte) (n int) {
	if string(line) == "word" || len(string(line[:6])) == 0 {
		n++
	}
	for _, c := range line {
		if c == 'w' {
			n++
		}
	}
	return n
}

func main() {
	line := bytes.Repeat([]byte("word, "), 170)
	total := 0
	for range 400000 {
		total += fields(line)
	}
	fmt.Println(total)
}
