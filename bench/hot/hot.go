// Package hot has the loops of the hot-path table, and the code for timing them. Of this
// repository it imports only package scope, so that it can be built with other revisions of
// it: see -base of the harness, and package runner.
package hot

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// Loop does something n times and returns the time that its goroutine measured.
type Loop func(n int) time.Duration

// Timed returns a loop on the caller's goroutine.
func Timed(f func(n int)) Loop {
	return func(n int) time.Duration {
		begin := time.Now()
		f(n)
		return time.Since(begin)
	}
}

// Together returns a loop that runs f on two goroutines at once, each on a CPU of its own if
// there are two, and returns the mean of their times.
func Together(f func(n int)) Loop {
	return func(n int) time.Duration {
		var ready atomic.Int32
		var spent [2]time.Duration
		var done sync.WaitGroup
		for i := range spent {
			done.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				defer apart(i)()
				ready.Add(1)
				for ready.Load() < 2 { // a wake-up would put them one after the other
				}
				begin := time.Now()
				f(n)
				spent[i] = time.Since(begin)
			})
		}
		done.Wait()
		return (spent[0] + spent[1]) / 2
	}
}

// Arguments unknown to the compiler, and too large for the runtime's table of small boxed
// integers.
var (
	argA, argB = 1234, 5678
	argS       = "an argument"
)

//go:noinline
func task() { defer scope.Task("f1")() }

//go:noinline
func taskInts() { defer scope.Task("f1", argA, argB)() }

//go:noinline
func taskMixed() { defer scope.Task("f1", argA, argS, scope.KV("key", argB))() }

//go:noinline
func taskText() { defer scope.Task("f1", text)() }

var text = strings.Repeat("x", 1<<20)

// Tasks makes n scopes, TasksInts gives them two ints, TasksMixed an int, a
// string and a named int, TasksText a string of 1 MiB.
func Tasks(n int) {
	for range n {
		task()
	}
}

func TasksInts(n int) {
	for range n {
		taskInts()
	}
}

func TasksMixed(n int) {
	for range n {
		taskMixed()
	}
}

func TasksText(n int) {
	for range n {
		taskText()
	}
}

// Crossing begins scopes on one P and ends them on another. While one of the
// two goroutines works through a batch the other spins, so that both keep their
// P; only the work is timed.
func Crossing(n int) time.Duration {
	const batch = 1000
	const begin, end, stop = 0, 1, 2
	var (
		spans [batch]scope.Span
		turn  atomic.Int32
		ended time.Duration
		done  = make(chan struct{})
	)
	go func() {
		defer close(done)
		for {
			switch turn.Load() {
			case end:
				from := time.Now()
				for i := range spans {
					spans[i].End()
				}
				ended += time.Since(from)
				turn.Store(begin)
			case stop:
				return
			}
		}
	}()
	var begun time.Duration
	for range n / batch {
		from := time.Now()
		for i := range spans {
			spans[i] = scope.Begin("f1")
		}
		begun += time.Since(from)
		turn.Store(end)
		for turn.Load() == end {
		}
	}
	turn.Store(stop)
	<-done
	return begun + ended
}
