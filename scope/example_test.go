package scope_test

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
)

func Example() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(dir); err != nil {
		fmt.Println(err)
		return
	}
	func() {
		defer scope.Task("parse", scope.KV("file", "main.go"))()
		// …
	}()
	if err := scope.Stop(); err != nil {
		fmt.Println(err)
	}
}

func ExampleTask() {
	defer scope.Task("f1")()
	// the rest of the function is the scope
}

func ExampleTask_arguments() {
	n, name := 3, "main.go"
	defer scope.Task("compress", n, scope.KV("file", name))()
}

func ExampleTaskf() {
	user := 4711
	defer scope.Taskf("load user %d", user)()
}

func ExampleBegin() {
	s := scope.Begin("copy", scope.KV("from", "a"))
	n := 1 << 20 // bytes copied, known only now
	s.End(scope.KV("bytes", n))
}

func ExampleLock() {
	var mu sync.Mutex
	counts := map[string]int{}
	count := func(word string) {
		defer scope.Lock(&mu, "counts.mu")()
		counts[word]++
	}
	count("one")
	fmt.Println(counts)
	// Output: map[one:1]
}

func ExampleGo() {
	done := make(chan bool)
	scope.Go("worker", func() { close(done) })
	<-done
	fmt.Println("done")
	// Output: done
}

func ExampleCounter() {
	queue := []string{"a", "b"}
	scope.Counter("queue", len(queue))
	scope.Counter("load", 0.75)
}

func ExamplePending() {
	defer scope.Pending("request answered", scope.KV("path", "/"))()
}

func ExampleEvent() {
	scope.Event("evicted", scope.KV("after", 3*time.Second))
}

func ExampleSetFilter() {
	// Everything but the cache, of which only what is slow.
	if err := scope.SetFilter("*,-cache.*,cache.load"); err != nil {
		fmt.Println(err)
	}
}

func ExampleStats() {
	s := scope.Stats()
	fmt.Println(s.Running, s.Recorded, s.Lost.Total())
}

// A program that is left on: it keeps the last minutes, and by itself what
// happened before and in a request that took half a second.
func ExampleWithRing() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(dir, scope.WithRing(256<<20), scope.WithTrigger("http.*", 500*time.Millisecond, dir)); err != nil {
		fmt.Println(err)
		return
	}
	defer scope.Stop()
	scope.Task("http.get")()
}

func ExampleSnapshot() {
	// What the recording has now, for a colleague. A directory gets a new file.
	if err := scope.Snapshot(os.TempDir()); err != nil {
		fmt.Println(err)
	}
}

func ExampleMutex() {
	type queue struct {
		mu   scope.Mutex
		jobs []string
	}
	q := &queue{mu: scope.Mutex{Name: "queue.mu"}}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, "job")
}

func ExampleRetry() {
	var top atomic.Int64
	r := scope.Retry("top.add")
	for {
		old := top.Load()
		if top.CompareAndSwap(old, old+1) {
			break
		}
		r.Again()
	}
	r.Done()
}
