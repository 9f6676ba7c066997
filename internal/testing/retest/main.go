// Command retest runs go test, and what failed once more alone. What then passes is
// printed as FLAKY with both outputs, and does not fail the run. make test uses it:
// tests share the machine's cores with each other, and with whatever else runs there.
//
//	retest go test -v ./...
//	retest -naming 'wantPath|witness' go test -v ./internal/record
//
// With -naming only tests run that match: see naming.
//
// The packages come last and begin with a dot. A test that fails runs again by itself.
// Where a whole package died (a panic, a timeout, an exit), no one knows what its other
// tests would have said, so the package runs again. A data race, and what does not build
// or pass go vet, are no matter of luck: they fail at once. At the end come the ten slowest
// tests, a line each that begins with "slow".
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	only := flag.String("naming", "", "run only the tests whose text matches this `pattern`, or that of a function they call")
	flag.Parse()
	c, err := parse(flag.Args())
	if err == nil && *only != "" {
		err = c.limit(*only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "retest:", err)
		os.Exit(2)
	}
	if !c.judge(os.Stdout) {
		os.Exit(1)
	}
}
