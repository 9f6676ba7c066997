// Command clobber calls assembly that uses the frame pointer's register for other values,
// and yields while such a value is still there.
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
	switch what { // directly: a func value would call a wrapper, which saves the register
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
