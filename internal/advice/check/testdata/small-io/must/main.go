// Numbers, each written to a file on its own.
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
	n := 0
	for i := range 1_000_000 {
		k, _ := fmt.Fprintln(f, "number", i)
		n += k
	}
	fmt.Println(n)
}
