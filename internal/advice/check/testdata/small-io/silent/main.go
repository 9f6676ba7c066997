// Blocks of 64 kB, each written separately; and two goroutines that exchange a few bytes
// over pipes.
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
	for range 100_000 {
		k, _ := f.Write(block)
		n += k
	}
	fmt.Println(n)
	there, here := line(), line()
	go func() {
		tick := make([]byte, 4096)
		for range 20_000 {
			k, _ := there.r.Read(tick)
			here.w.Write(tick[:k])
		}
	}()
	tick := make([]byte, 4096)
	for range 20_000 {
		there.w.Write([]byte("tick"))
		k, _ := here.r.Read(tick)
		n += k
	}
	fmt.Println(n)
}

type pipe struct{ r, w *os.File }

func line() (p pipe) {
	var err error
	if p.r, p.w, err = os.Pipe(); err != nil {
		panic(err)
	}
	return p
}
