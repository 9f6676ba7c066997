package traces

import (
	"fmt"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// Crew is the number of workers of the program eight: rows worker 1 to Crew, each in scopes
// and in waits for the lock Lock.
const Crew = 8

// eight runs workers that do n jobs each, with a Go execution trace.
func eight(n int) {
	var mu sync.Mutex
	var done sync.WaitGroup
	for w := range Crew {
		done.Add(1)
		scope.Go(fmt.Sprintf("worker %d", w+1), func() {
			defer done.Done()
			for range n {
				end := scope.Task("job")
				unlock := scope.Lock(&mu, Lock)
				busy(300 * time.Microsecond)
				unlock()
				end()
				time.Sleep(200 * time.Microsecond)
			}
		})
	}
	done.Wait()
}
