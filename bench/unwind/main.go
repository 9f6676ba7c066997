//go:build unix

// Command unwind measures what the stacks of Go's execution tracer cost, by how deep they are: of an event
// that has one, and of a program whose goroutines hand over to one another. With "off" it takes no trace.
// docs/performance.md says how it was built: as it is, with GODEBUG=tracefpunwindoff=1, and with the
// check of frame pointers that scopeview run has.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/trace"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "off" {
		if err := trace.Start(io.Discard); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer trace.Stop()
	}
	const events = 200_000
	for _, depth := range []int{8, 32} {
		down(depth, func() {
			began := cpu()
			for range events {
				trace.Log(context.Background(), "", "")
			}
			fmt.Printf("event %d %d\n", depth, (cpu()-began)/events)
		})
		ask, answer := make(chan int), make(chan int)
		go down(depth, func() {
			for range ask {
				answer <- 1
			}
		})
		down(depth, func() {
			began := cpu()
			for range events {
				ask <- 1
				<-answer
			}
			fmt.Printf("handover %d %d\n", depth, (cpu()-began)/events/2)
		})
		close(ask)
	}
}

// down calls f with so many frames below it.
//
//go:noinline
func down(depth int, f func()) int {
	if depth == 0 {
		f()
		return 0
	}
	return down(depth-1, f) + 1
}

// cpu returns the CPU time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
