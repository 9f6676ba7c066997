// Command clobber calls assembly that uses the frame pointer's register as any other, and gives up
// its processor while what that has left is still there.
package main

import (
	"runtime"

	"github.com/scopeview/scopeview/scope"
	_ "github.com/scopeview/scopeview/scope/hooks"
)

func main() {
	for i := range 3000 {
		calls(i % 3)
	}
	scope.Task("main.clobbered")()
}

//go:noinline
func calls(what int) {
	switch what { // by name: by a func value they are called by a wrapper, which saves the register
	case 0:
		one()
	case 1:
		zero()
	case 2:
		inStack()
	}
	runtime.Gosched()
	done := make(chan bool)
	go func() { done <- true }()
	<-done
}
