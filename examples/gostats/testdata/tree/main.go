package main

import (
	"fmt"
	"os"
)

const a, b = 1, 2

var (
	c    = a
	d, e int
)

func main() {
	fmt.Fprintln(os.Stdout, a, b, c, d, e)
}
