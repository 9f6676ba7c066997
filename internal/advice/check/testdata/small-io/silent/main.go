// Blocks of 64 kB, each written on its own; and a pipe whose two ends take turns with few bytes.
package main

import (
	"fmt"
	"os"
)

func main() {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	n := 0
	for range 200_000 {
		k, _ := f.Write(block)
		n += k
	}
	fmt.Println(n)
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		defer w.Close()
		for range 200 {
			w.Write([]byte("tick"))
		}
	}()
	tick := make([]byte, 4096)
	for {
		k, err := r.Read(tick)
		if err != nil {
			break
		}
		n += k
	}
	fmt.Println(n)
}
