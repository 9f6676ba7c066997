package traces

import (
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// Read is the scope of the program slow whose executions all wait for a channel; one in a
// hundred waits for a mutex too, in the function awaitTurn. Spin is the function that has
// the CPU time.
const (
	Read      = "read"
	Spin      = "traces.burn"
	SpinCode  = "x = x*x + 1" // on its hot line
	AwaitTurn = "traces.awaitTurn"
)

// slow is a program with a known cause of slow executions of Read.
func slow(n int) {
	var mu sync.Mutex
	answers := make(chan bool)
	go func() {
		for range answers {
			time.Sleep(200 * time.Microsecond)
			answers <- true
		}
	}()
	var done sync.WaitGroup
	done.Add(1)
	scope.Go("reader", func() {
		defer done.Done()
		for i := range n {
			readOne(&mu, answers, i%100 == 50)
		}
		defer scope.Task("burn")()
		burn(400 * time.Millisecond)
	})
	done.Wait()
	close(answers)
}

func readOne(mu *sync.Mutex, answers chan bool, slow bool) {
	var held sync.WaitGroup
	if slow { // another goroutine has it first
		held.Add(1)
		go func() {
			mu.Lock()
			held.Done()
			time.Sleep(100 * time.Millisecond)
			mu.Unlock()
		}()
		held.Wait()
	}
	defer scope.Task(Read)()
	answers <- true
	<-answers
	if slow {
		awaitTurn(mu)
	}
}

//go:noinline
func awaitTurn(mu *sync.Mutex) {
	mu.Lock()
	mu.Unlock() //nolint:staticcheck // it is the wait that is wanted
}

// burnt keeps the result of the work.
var burnt uint64

//go:noinline
func burn(d time.Duration) {
	x := uint64(3)
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 1_000_000 {
			x = x*x + 1
		}
	}
	burnt = x
}
