//go:build !linux

// Command soak needs Linux: it reads /proc and shares memory with the processes that it
// kills.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "soak: this needs Linux")
	os.Exit(1)
}
