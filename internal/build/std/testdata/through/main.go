// Command through panics through C: the deferred functions run while C's frames are still on
// the stack.
package main

/*
extern void goBack(void);

// through has something in the frame pointer's register that is no frame, as C compilers may.
static void through(int n) {
	char room[64];
	for (int i = 0; i < 64; i++)
		room[i] = n;
	goBack();
	__asm__ volatile("" : : "r"(room) : "memory");
}
*/
import "C"

import (
	"runtime"

	"github.com/scopeview/scopeview/scope"
	_ "github.com/scopeview/scopeview/scope/hooks"
)

//export goBack
func goBack() {
	runtime.Gosched()
	panic("on purpose")
}

func main() {
	for range 1000 {
		calls()
		runtime.Gosched()
	}
	scope.Task("main.recovered")()
}

//go:noinline
func calls() {
	defer func() {
		runtime.Gosched()
		defer runtime.Gosched()
		_ = recover()
	}()
	C.through(1)
}
