//go:build !scope_off

package scope_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	_, err = os.Stat(scope.Path()) // scopeview shows it
	fmt.Println(err, scope.Stats().Lost.Total())
	// Output: <nil> 0
}

func ExampleTask() {
	square := func(n int) int {
		defer scope.Task("square", scope.KV("n", n))() // from here to the return
		return n * n
	}
	fmt.Println(square(3))
	// Output: 9
}

func ExampleTaskf() {
	load := func(user int) string {
		defer scope.Taskf("load user %d", user)() // formatted when the trace is read
		return "Ada"
	}
	fmt.Println(load(4711))
	// Output: Ada
}

func ExampleBegin() {
	s := scope.Begin("copy", scope.KV("from", "a"))
	n := copy(make([]byte, 8), "content")
	s.End(scope.KV("bytes", n)) // known only now
	fmt.Println(n)
	// Output: 7
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

// A request that runs on two goroutines and continues in another process.
func ExampleContext() {
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
	defer scope.Stop()
	ctx, request := scope.Context(context.Background(), "checkout", scope.KV("user", 4711))
	defer request.End()
	header := make(chan string)
	go func() {
		ctx, pay := scope.Context(ctx, "pay") // a child of checkout
		defer pay.End()
		l, _ := scope.LinkOf(ctx)
		header <- l.Traceparent() // the header for the next process
	}()
	there, ok := scope.ParseTraceparent(<-header)
	here, _ := scope.LinkOf(ctx)
	fmt.Println(ok, there.Trace == here.Trace, there.Span == here.Span)
	// Output: true true false
}

// The receiver's side of a request.
func ExampleWithLink() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if l, ok := scope.ParseTraceparent(r.Header.Get("Traceparent")); ok {
			ctx = scope.WithLink(ctx, l)
		}
		_, span := scope.Context(ctx, "serve") // a child of the sender's scope
		defer span.End()
		fmt.Fprint(w, "served")
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Body)
	// Output: served
}

func ExampleCounter() {
	queue := []string{"a", "b"}
	for len(queue) > 0 {
		queue = queue[1:]
		scope.Counter("queue", len(queue))
	}
	fmt.Println(len(queue))
	// Output: 0
}

func ExamplePending() {
	answered := scope.Pending("request answered", scope.KV("path", "/"))
	// …
	answered()
	fmt.Println("answered")
	// Output: answered
}

func ExampleSetFilter() {
	// Record everything except the cache, and of the cache only the slow calls.
	if err := scope.SetFilter("*,-cache.*,cache.load"); errors.Is(err, scope.ErrStopped) {
		fmt.Println("not recording")
	}
	// Output: not recording
}

// A program that records permanently: it keeps the last minutes, and writes a
// snapshot when a request took more than half a second.
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
	// A snapshot of what the recording holds now, for a colleague.
	fmt.Println(scope.Snapshot(filepath.Join(dir, "now.scope")), scope.Stats().Snapshots)
	// Output: <nil> 1
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
	fmt.Println(len(q.jobs))
	// Output: 1
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
	fmt.Println(top.Load())
	// Output: 1
}
