//go:build own

package main

import (
	"fmt"
	"os"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// The program records itself in the directory in TRACES, in a ring where RING is set, and asks for what
// Go has one of where YIELD is.
func init() {
	n := 0
	release := func() {}
	begin = func() {
		n++
		opts := []scope.Option{gotrace.With()}
		if os.Getenv("RING") != "" {
			opts = append(opts, scope.WithRing(scope.MinRing))
		}
		if err := scope.Start(fmt.Sprintf("%s/%03d.scope", os.Getenv("TRACES"), n), opts...); err != nil {
			fmt.Println(err)
		}
		if os.Getenv("YIELD") != "" {
			release = gotrace.Yield()
		}
	}
	end = func() {
		release()
		if err := scope.Stop(); err != nil {
			fmt.Println(err)
		}
	}
}
