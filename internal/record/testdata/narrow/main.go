// Program narrow uses everything that counts in 64-bit words, on a 32-bit processor. It prints
// what Stop returned, whether everything is recorded, and how much was lost.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// crowded holds locks at addresses where 64-bit words need not be aligned.
type crowded struct {
	_  byte
	mu scope.Mutex
	_  byte
	rw scope.RWMutex
}

func main() {
	opts := []scope.Option{scope.WithHeartbeat(10 * time.Millisecond)}
	if len(os.Args) > 2 {
		opts = append(opts, scope.WithRing(4<<20))
	}
	if err := scope.Start(os.Args[1], opts...); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var locks [3]crowded
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 5000 {
				l := &locks[i%3]
				_, s := scope.Context(context.Background(), "work", g, int64(i)<<40)
				l.mu.Lock()
				l.rw.RLock()
				l.rw.RUnlock()
				l.mu.Unlock()
				s.End()
			}
			scope.Event("done")
			scope.Stack("here", 1)
		})
	}
	wg.Wait()
	err := scope.Stop()
	s := scope.Stats()
	fmt.Println(err, s.Recorded+s.Overwritten >= 40_000, s.Lost.Total())
}
