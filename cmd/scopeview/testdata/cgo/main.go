// Command cgo has half of its CPU time in a C function of its own, and half in one of a shared
// library. With an argument it writes its Go execution trace there, with a CPU profile.
package main

/*
#cgo CFLAGS: -O1 -fno-omit-frame-pointer

extern long shared_hot(long n);

static long __attribute__((noinline)) own_hot(long n) {
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i % 7;
	return s;
}
*/
import "C"

import (
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"
)

//go:noinline
func callOwn(n int) int { return int(C.own_hot(C.long(n))) }

//go:noinline
func callShared(n int) int { return int(C.shared_hot(C.long(n))) }

func main() {
	rounds := 3000
	if len(os.Args) > 1 {
		rounds *= 2 // Go takes only a few samples
		f, err := os.Create(os.Args[1])
		if err == nil {
			err = pprof.StartCPUProfile(io.Discard)
		}
		if err == nil {
			err = trace.Start(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
		defer trace.Stop()
	}
	sum := 0
	for range rounds {
		sum += callOwn(100_000) + callShared(100_000)
	}
	fmt.Println(sum)
}
