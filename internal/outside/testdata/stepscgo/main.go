// Command stepscgo stops itself, and then calls C, and Go from there.
package main

/*
#cgo CFLAGS: -O2
#define apart __attribute__((noinline, noclone))

extern int back(int n);
static volatile int v;

apart static int leaf(int n) { v++; return n * 7; }
apart static int middle(int n) { v++; return leaf(n) + leaf(n + 1); }
apart static int work(int n) { int s = 0; for (int i = 0; i < 3; i++) s += middle(i); return s + back(n); }
*/
import "C"

import (
	"os"
	"runtime"
	"syscall"
)

func init() { runtime.LockOSThread() }

//go:noinline
func twice(n C.int) C.int { return n * 2 }

//export back
func back(n C.int) C.int { return twice(n) + 1 }

func main() {
	if err := syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGSTOP); err != nil {
		os.Exit(1)
	}
	n := C.int(0)
	for i := range 10_000 {
		n += C.work(C.int(i)) + twice(n)
	}
	os.Exit(int(n) & 1)
}
