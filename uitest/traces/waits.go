package traces

import (
	"fmt"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// What the programs delayed, nested and stuck do. A server's row handles numbered requests, each in a
// scope Request; that of the number Delayed waits for Outer. The row Keeper has Outer in a
// scope Keep, and waits for Inner meanwhile, which the row Flusher has in a scope Flush.
const (
	Server  = "server"
	Request = "request"
	Delayed = 4711
	Outer   = "store.mu"
	Inner   = "disk.mu"
	Keeper  = "keeper"
	Keep    = "keep"
	Flusher = "flusher"
	Flush   = "flush"
	Packer  = "packer"
	Pack    = "pack"
	Delay   = 60 * time.Millisecond
)

// delayed is the program whose Flusher waits for the row Packer, which computes for Delay in a
// scope Pack and then sends what it made. It has a Go execution trace, and all holds.
func delayed(n int) {
	var outer, inner sync.Mutex
	packed, flushing := make(chan bool), make(chan bool)
	chain(n, func() func() { return scope.Lock(&outer, Outer) }, func() func() { return scope.Lock(&inner, Inner) }, func() {
		flushing <- true
		<-packed
	}, func() {
		defer scope.Task(Pack)()
		<-flushing
		busy(Delay)
		packed <- true
	})
}

// nested is the same with a scope.Mutex each, without a Go execution trace; its Flusher sleeps.
func nested(n int) {
	outer, inner := scope.Mutex{Name: Outer}, scope.Mutex{Name: Inner}
	lock := func(m *scope.Mutex) func() {
		m.Lock()
		return m.Unlock
	}
	chain(n, func() func() { return lock(&outer) }, func() func() { return lock(&inner) }, func() { time.Sleep(Delay) }, func() {})
}

// stuck is the same with a Flusher that never releases, once it has printed that.
func stuck(n int) {
	var outer, inner sync.Mutex
	chain(n, func() func() { return scope.Lock(&outer, Outer) }, func() func() { return scope.Lock(&inner, Inner) }, func() {
		fmt.Println("stuck")
		time.Sleep(time.Minute)
	}, func() {})
}

// chain handles n requests before the delayed one, and n after it.
func chain(n int, lockOuter, lockInner func() func(), flush, pack func()) {
	var done sync.WaitGroup
	kept, flushing := make(chan bool), make(chan bool)
	row := func(name string, f func()) {
		done.Add(1)
		scope.Go(name, func() {
			defer done.Done()
			f()
		})
	}
	request := func(number int) {
		defer scope.Task(Request, scope.KV("number", number))()
		defer lockOuter()()
	}
	for i := range n {
		request(Delayed - n + i)
	}
	row(Flusher, func() {
		defer scope.Task(Flush)()
		defer lockInner()()
		close(flushing)
		flush()
	})
	<-flushing
	row(Packer, pack)
	row(Keeper, func() {
		defer scope.Task(Keep)()
		defer lockOuter()()
		close(kept)
		defer lockInner()()
	})
	<-kept
	row(Server, func() {
		for i := range n + 1 {
			request(Delayed + i)
		}
	})
	done.Wait()
	fmt.Println("all done")
}
