//go:build unix

// Command ordinary is a program without any reference to scopeview. For each line that it
// reads it runs the slice named by its argument, and prints the CPU time of all its threads,
// in ns, and the number of repetitions.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// slices are the functions for a line, by argument.
var slices = map[string]func() int{
	"calls": calls, "mutex": mutex, "goroutines": goroutines, "handovers": handOvers, "nothing": func() int { return 0 },
}

var sink uint64

// calls calls a function large enough for a scope, about ten million times per second of CPU
// time.
func calls() int {
	const n = 2_000_000
	for i := range uint64(n) {
		sink = digest(sink, i)
	}
	return n
}

// digest takes some 90 ns.
//
//go:noinline
func digest(a, b uint64) uint64 {
	x := a ^ b | 1
	for range 60 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return mixed(x, a) + mixed(x, b)
}

//go:noinline
func mixed(a, b uint64) uint64 { return a*31 + b }

var (
	mu    sync.Mutex
	count int
)

func mutex() int {
	const n = 5_000_000
	for range n {
		mu.Lock()
		count++
		mu.Unlock()
	}
	return n
}

// goroutines starts 50,000 goroutines per second.
func goroutines() int {
	const perMS, ms = 50, 100
	began := time.Now()
	var done sync.WaitGroup
	for i := range ms {
		for range perMS {
			done.Add(1)
			go finish(&done)
		}
		time.Sleep(time.Until(began.Add(time.Duration(i+1) * time.Millisecond)))
	}
	done.Wait()
	return perMS * ms
}

func finish(done *sync.WaitGroup) { done.Done() }

// handOvers makes two goroutines wait for each other at a channel.
func handOvers() int {
	const n = 200_000
	there, back := make(chan int), make(chan int)
	go answer(there, back)
	for i := range n / 2 {
		there <- i
		<-back
	}
	close(there)
	return n
}

func answer(there <-chan int, back chan<- int) {
	for v := range there {
		back <- v
	}
}

func cpuTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func main() {
	slice := slices[os.Args[1]]
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		before := cpuTime()
		n := slice()
		fmt.Println(cpuTime()-before, n)
	}
}
