package main

import (
	"fmt"
	"iter"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

func init() {
	cases["signals"] = signals
	cases["pull"] = pull
	cases["locked"] = locked
	cases["goexit"] = goexit
	cases["nilpanic"] = nilPanic
	cases["rate"] = rate
	cases["deep"] = deep
}

// signals requests, ignores and sends SIGPROF. Go delivers none to a program.
func signals() {
	c := make(chan os.Signal, 100)
	signal.Notify(c, syscall.SIGPROF)
	send(5)
	fmt.Println("notified", len(c))
	signal.Ignore(syscall.SIGPROF)
	send(5)
	burn(50 * time.Millisecond)
	fmt.Println("ignored", len(c), signal.Ignored(syscall.SIGPROF))
	signal.Reset(syscall.SIGPROF)
	send(5)
	fmt.Println("reset", len(c), signal.Ignored(syscall.SIGPROF))
	signal.Notify(c) // all that can be
	burn(50 * time.Millisecond)
	signal.Stop(c)
	n := 0
	for len(c) > 0 {
		if s := <-c; s != syscall.SIGURG { // which Go sends itself
			n++
		}
	}
	fmt.Println("all", n)
}

func send(n int) {
	for range n {
		if err := syscall.Kill(os.Getpid(), syscall.SIGPROF); err != nil {
			fmt.Println(err)
		}
	}
}

// pull switches between coroutines: one that is asked from several goroutines, one on a locked thread, one
// that panics, and one that is left.
func pull() {
	numbers := func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
			if i%10 == 0 {
				work()
			}
		}
	}
	next, stop := iter.Pull(numbers)
	sum := 0
	for range 200 {
		var wg sync.WaitGroup
		wg.Go(func() { v, _ := next(); sum += v })
		wg.Wait()
	}
	stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		next, stop := iter.Pull(numbers)
		defer stop()
		for range 200 {
			v, _ := next()
			sum += v
		}
	})
	wg.Wait()
	for range 100 {
		func() {
			next, stop := iter.Pull(func(yield func(int) bool) { yield(1); runtime.Gosched(); panic("on purpose") })
			defer stop()
			defer func() { sum += len(fmt.Sprint(recover())) }()
			next()
			next()
		}()
	}
	iter.Pull(numbers)
	fmt.Println(sum)
}

// locked ends goroutines that have locked their threads, which end with them.
func locked() {
	for range 100 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { runtime.LockOSThread(); work() })
		}
		wg.Wait()
	}
	fmt.Println("threads ended")
}

// goexit ends goroutines by runtime.Goexit, also from a deferred function and from a panic's.
func goexit() {
	n := 0
	for i := range 300 {
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() { n++; runtime.Gosched() }()
			switch i % 3 {
			case 0:
				runtime.Goexit()
			case 1:
				defer runtime.Goexit()
				panic("on purpose")
			case 2:
				runtime.LockOSThread()
				defer func() { _ = recover(); runtime.Goexit() }()
				panic("on purpose")
			}
		})
		wg.Wait()
	}
	fmt.Println(n)
}

type ints [32]int

//go:noinline
func read(p *ints) ints { return *p }

// nilPanic recovers from nil pointers that are read by a copy that has no frame of its own, and blocks while it does.
func nilPanic() {
	n := 0
	for range 2000 {
		func() {
			defer func() {
				if recover() != nil {
					runtime.Gosched()
					c := make(chan bool)
					go func() { c <- true }()
					<-c
					n++
				}
			}()
			n += read(nil)[0]
		}()
	}
	fmt.Println(n)
}

// rate sets the profile's rate, as programs do before they begin a profile, and resets it.
func rate() {
	for range 3 {
		runtime.SetCPUProfileRate(500)
		burn(20 * time.Millisecond)
		runtime.SetCPUProfileRate(0)
		burn(20 * time.Millisecond)
	}
	inOrder("rate", "rR", 1)
}

// deep takes stacks of a deep recursion that grow and shrink during garbage collections.
func deep() {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				down(i * 100)
			}
		})
	}
	for range 5 {
		runtime.GC()
		_ = pprof.Lookup("goroutine").WriteTo(nothing{}, 2)
	}
	wg.Wait()
	fmt.Println("deep")
}

type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }

//go:noinline
func down(n int) int {
	if n == 0 {
		runtime.Gosched()
		return 0
	}
	return down(n-1) + 1
}
