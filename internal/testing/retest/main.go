// Command retest runs go test, and repeats failed tests once alone. Those that then pass are
// printed as FLAKY with both outputs, and do not fail the run. make test uses it: tests
// share the machine's cores with each other and with other programs.
//
//	retest go test -v ./...
//	retest -naming 'wantPath|witness' go test -v ./internal/record
//
// With -naming only tests run that match: see naming.
//
// The packages come last and begin with a dot. A failed test is repeated alone. If a whole
// package died (a panic, a timeout, an exit), the results of its other tests are unknown, so
// the package is repeated. A data race, and a failure of build or go vet, are not random:
// they fail at once. The output ends with the ten slowest tests, in lines that begin with
// "slow".
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
