// A block for each sum, which dies right after.
package main

import "fmt"

var keep []*[4096]byte

//go:noinline
func sum(i int) (n int) {
	b := new([4096]byte)
	fill(b, byte(i))
	for _, v := range b {
		n += int(v)
	}
	return n
}

//go:noinline
func fill(b *[4096]byte, v byte) {
	b[0], b[4095] = v, v
	last = b
}

var last *[4096]byte

func main() {
	n := 0
	for i := range 400_000 {
		n += sum(i)
	}
	fmt.Println(n, len(keep))
}
