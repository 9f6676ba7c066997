// Command strangers does, by its arguments, what programs do with what Go's tracer and profiler use:
// with them, with SIGPROF, threads, stacks and C. It prints what comes of each, which is the same
// with a recording as without. With the tag own it records itself.
package main

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// begin and end start and end the program's own recording; nil: it has none.
var begin, end func()

var cases = map[string]func(){}

func main() {
	for _, name := range os.Args[1:] {
		f := cases[name]
		if f == nil {
			fmt.Println("no case", name)
			os.Exit(3)
		}
		fmt.Println(name)
		if _, itself := orders[name]; !itself && begin != nil {
			begin()
			f()
			end()
			continue
		}
		f()
	}
	fmt.Println("lived")
}

// burn uses CPU time of the process.
func burn(d time.Duration) {
	for began := used(); used() < began+d; {
		work()
	}
}

func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// work changes the states of goroutines.
func work() {
	done := make(chan int)
	for i := range 20 {
		go func() { done <- sum(1000 + i) }()
		<-done
	}
}

//go:noinline
func sum(n int) (sum int) {
	for i := range n {
		sum += i * i
	}
	return sum
}
