// Texts of 200 kB, read without their size.
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
	text := bytes.Repeat([]byte("word "), 40000)
	total := 0
	for range 3000 {
		total += len(read(bytes.NewReader(text), len(text)))
	}
	fmt.Println(total)
}
