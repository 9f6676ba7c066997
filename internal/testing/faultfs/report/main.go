// Command report prints for each guarantee whether its tests passed, with the numbers that
// they logged, and on standard error the progress of the tests. It reads the output of go
// test -json; make fault runs it.
//
// The tests of a guarantee are those with names that start with TestG and its number. Its
// numbers are the logged lines that begin with, for example, "G7: ". If the line continues
// with "not given: ", the guarantee does not hold there.
package main

import (
	"fmt"
	"os"
)

func main() {
	r := newRun()
	if err := r.read(os.Stdin, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(2)
	}
	if !r.write(os.Stdout) {
		os.Exit(1)
	}
}
