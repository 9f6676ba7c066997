// The same lines, which are not converted.
package main

import (
	"bytes"
	"fmt"
)

//go:noinline
func fields(line []byte) (n int) {
	if bytes.Contains(line, []byte(";")) {
		n++
	}
	return n + len(line)
}

func main() {
	line := bytes.Repeat([]byte("word, "), 170)
	total := 0
	for range 600000 {
		total += fields(line)
	}
	fmt.Println(total)
}
