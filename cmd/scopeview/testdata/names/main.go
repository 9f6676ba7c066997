// Command names has its CPU time in functions of every kind, each as much as the others. With
// arguments it writes its Go execution trace to the first, and its CPU profile to the second.
package main

import (
	"fmt"
	"iter"
	"os"
	"runtime/pprof"
	"runtime/trace"
)

const turns = 20

var rounds = 160_000_000 / turns

// spend is inlined, so that the time belongs to the function that is looked at. A division
// would take the registers of the caller's arguments, and what brings them back be the caller's.
func spend(s *int) {
	for i := range rounds {
		*s += i >> 3
	}
}

//go:noinline
func generic[T any](x T) (s int) { spend(&s); return s }

type list[T any] struct{ first T }

//go:noinline
func (l *list[T]) method(n int) (s int) { spend(&s); return s + n }

type counter struct{ n int }

//go:noinline
func (c *counter) add(n int) (s int) { spend(&s); return s + c.n + n }

//go:noinline
func (c counter) get(n int) (s int) { spend(&s); return s + c.n + n }

type getter interface{ get(int) int }

//go:noinline
func call(f func(int) int) int { return f(1) }

//go:noinline
func closures() int {
	n := 1
	return call(func(k int) (s int) {
		spend(&s)
		return s + call(func(int) (s int) { spend(&s); return s + n + k })
	})
}

//go:noinline
func goroutine() int {
	done := make(chan int)
	go func() {
		var s int
		spend(&s)
		done <- s
	}()
	return <-done
}

//go:noinline
func deferred() (s int) {
	defer func() { spend(&s) }()
	return 1
}

func sequence() iter.Seq[int] {
	return func(yield func(int) bool) { _ = yield(1) && yield(2) }
}

//go:noinline
func ranged() (s int) {
	for range sequence() {
		spend(&s)
	}
	return s
}

//go:noinline
func direct(depth int) (s int) {
	if depth == 0 {
		spend(&s)
		return s
	}
	return direct(depth-1) + 1
}

//go:noinline
func even(depth int) (s int) {
	if depth == 0 {
		spend(&s)
		return s
	}
	return odd(depth-1) + 1
}

//go:noinline
func odd(depth int) int { return even(depth-1) + 1 }

func main() {
	if len(os.Args) > 2 {
		rounds *= 3 // Go takes only a few samples
		goTrace, err := os.Create(os.Args[1])
		profile, err2 := os.Create(os.Args[2])
		if err == nil && err2 == nil {
			err, err2 = pprof.StartCPUProfile(profile), trace.Start(goTrace)
		}
		if err != nil || err2 != nil {
			fmt.Fprintln(os.Stderr, err, err2)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
		defer trace.Stop()
	}
	c := &counter{n: 1}
	var g getter = *c
	sum := 0
	for range turns { // a temporary slow-down of the machine affects all of them
		sum += generic(1) + generic("a") + (&list[int]{}).method(1) + (&list[string]{}).method(1)
		sum += call(c.add) + call(c.get) + call(g.get) + (*counter).add(c, 1)
		sum += closures() + goroutine() + deferred() + ranged() + direct(5) + even(6)
	}
	fmt.Println(sum)
}
