// Command report tells of each guarantee whether its tests hold it, and the numbers
// that they logged, and meanwhile on standard error which tests have ended. It reads
// what go test -json says; make fault runs it.
//
// A guarantee's tests are those called TestG and its number, and whatever follows.
// Its numbers are the lines that any test logs and that begin with, say, "G7: ". A
// line that goes on with "not given: " says that what is promised does not hold there.
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
