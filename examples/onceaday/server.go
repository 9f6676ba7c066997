package main

import (
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// server answers requests from a cache that is cleaned from time to time.
type server struct {
	slow    int // number of the request during which the cache is large
	mu      sync.Mutex
	cache   map[int]int
	clean   chan int  // entries to look at
	busy    chan bool // the cleaner has the cache
	longest time.Duration
}

func newServer(slow int) *server {
	return &server{slow: slow, cache: map[int]int{}, clean: make(chan int), busy: make(chan bool)}
}

// cleanEvery is the number of requests between two cleanings.
const cleanEvery = 1000

// serve answers n requests at a rate, one after the other.
func (s *server) serve(requests, rate int) {
	var done sync.WaitGroup
	scopeGo(&done, "cleaner", func() {
		for entries := range s.clean {
			s.cleanUp(entries)
		}
	})
	scope.Track("server")
	begin := time.Now()
	for i := range requests {
		if ahead := time.Duration(i)*time.Second/time.Duration(rate) - time.Since(begin); ahead > time.Millisecond {
			time.Sleep(ahead)
		}
		switch {
		case i == s.slow:
			s.clean <- 50_000
			<-s.busy
		case i%cleanEvery == 0:
			s.clean <- 10
			<-s.busy
		}
		t := time.Now()
		s.request(i)
		s.longest = max(s.longest, time.Since(t))
	}
	close(s.clean)
	done.Wait()
}

func scopeGo(done *sync.WaitGroup, name string, f func()) {
	done.Add(1)
	scope.Go(name, func() {
		defer done.Done()
		f()
	})
}

func (s *server) request(i int) {
	defer scope.Task("request", i)()
	s.lookUp(i % 512)
}

func (s *server) lookUp(key int) {
	defer scope.Task("lookup", key)()
	defer scope.Lock(&s.mu, "cache.mu")()
	s.cache[key]++
}

// cleanUp examines n entries, a microsecond each.
func (s *server) cleanUp(entries int) {
	defer scope.Task("clean", entries)()
	defer scope.Lock(&s.mu, "cache.mu")()
	s.busy <- true
	for t, d := time.Now(), time.Duration(entries)*time.Microsecond; time.Since(t) < d; {
	}
}
