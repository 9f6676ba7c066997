// Command clobber calls assembly that uses the frame pointer's register as any other, and gives up
// its processor while what that has left is still there.
package main

import (
	"runtime"

	"github.com/scopeview/scopeview/scope"
	_ "github.com/scopeview/scopeview/scope/hooks"
)

func main() {
	for _, use := range []func(){one, zero, inStack} {
		for range 1000 {
			calls(use)
		}
	}
	scope.Task("main.clobbered")()
}

//go:noinline
func calls(use func()) {
	use()
	runtime.Gosched()
	done := make(chan bool)
	go func() { done <- true }()
	<-done
}
