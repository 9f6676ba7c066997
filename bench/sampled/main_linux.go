// Command sampled computes for a while for each line that it reads, and prints what CPU time it
// had meanwhile, in ns, all its threads together, and what came out. With an argument it records
// itself there, with Go's execution trace; with another one without Go's samples.
package main

import (
	"bufio"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// deep computes below some calls, for stacks of realistic depth.
//
//go:noinline
func deep(calls int) uint64 {
	if calls == 0 {
		return compute(20_000_000)
	}
	return deep(calls-1) + 1
}

//go:noinline
func compute(n int) uint64 {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// cpuTime returns the CPU time of all threads. The process's clock is unsuitable: while Go's
// profile has its timer, it has the value of the system clock's last tick.
func cpuTime() int64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func run() error {
	if len(os.Args) > 1 {
		with := gotrace.With()
		if len(os.Args) > 2 {
			with = gotrace.With(gotrace.WithoutProfile())
		}
		if err := scope.Start(os.Args[1], with); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		before := cpuTime()
		x := deep(20)
		fmt.Println(cpuTime()-before, x)
	}
	if len(os.Args) > 1 {
		return scope.Stop()
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sampled:", err)
		os.Exit(1)
	}
}
