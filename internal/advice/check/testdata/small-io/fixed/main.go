// The same numbers, written through a bufio.Writer.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	defer w.Flush()
	n := 0
	for i := range 1_000_000 {
		k, _ := fmt.Fprintln(w, "number", i)
		n += k
	}
	fmt.Println(n)
}
