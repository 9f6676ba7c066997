package traces

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// serving is like a busy server: each of n goroutines handles requests, in which it sleeps, waits for a lock,
// and waits for a goroutine without scopes that it starts. A goroutine has some fifty states.
func serving(n int) {
	var mu sync.Mutex
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for range 5 {
				request(&mu, random, 200+i%4*100)
			}
		})
	}
	done.Wait()
}

func request(mu *sync.Mutex, random *rand.Rand, status int) {
	defer scope.Task("request", status)()
	time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
	mu.Lock()
	spin(random)
	mu.Unlock()
	answer := make(chan int)
	go func() { answer <- status }()
	<-answer
}
