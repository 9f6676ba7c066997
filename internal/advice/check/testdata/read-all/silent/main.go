// Texts of 200 bytes, which io.ReadAll reads in one piece.
package main

import (
	"bytes"
	"fmt"
	"io"
)

//go:noinline
func read(r io.Reader, size int) []byte {
	b, _ := io.ReadAll(r)
	return b[:size]
}

func main() {
	text := bytes.Repeat([]byte("word "), 40)
	total := 0
	for range 1000000 {
		total += len(read(bytes.NewReader(text), len(text)))
	}
	fmt.Println(total)
}
