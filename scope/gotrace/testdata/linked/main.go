// Program linked records with Go's execution trace, and prints whether Go samples allocations.
package main

import (
	"os"
	"runtime"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

func main() {
	if err := scope.Start(os.Args[1], gotrace.With(options...)); err != nil {
		panic(err)
	}
	if err := scope.Stop(); err != nil {
		panic(err)
	}
	print(runtime.MemProfileRate)
}
