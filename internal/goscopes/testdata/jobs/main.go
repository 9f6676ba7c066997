// Program jobs writes a small Go execution trace to the file named by its argument. It wrote
// the traces of this directory, built with -trimpath by the version of Go in their names:
//
//	GOTOOLCHAIN=go1.22.12 go run -trimpath . go1.22.trace
package main

import (
	"context"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

var sum int

func worker(ctx context.Context, n int, jobs chan int, wg *sync.WaitGroup) {
	defer wg.Done()
	for v := range jobs {
		ctx, task := trace.NewTask(ctx, "job")
		trace.WithRegion(ctx, "parse", func() {
			time.Sleep(time.Duration(v) * 100 * time.Microsecond)
			trace.Logf(ctx, "progress", "worker %d value %d", n, v)
		})
		r := trace.StartRegion(ctx, "store")
		for i := range 10_000 {
			sum += i
		}
		r.End()
		if v%3 != 0 {
			task.End()
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(3 * time.Millisecond)
			task.End()
		}()
	}
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	ready := make(chan bool)
	go func() { <-ready }() // it exists when the trace begins
	time.Sleep(time.Millisecond)
	if err := trace.Start(f); err != nil {
		panic(err)
	}
	ctx, jobs := context.Background(), make(chan int)
	var wg sync.WaitGroup
	go func() {
		trace.StartRegion(ctx, "open")
		select {}
	}()
	for n := range 4 {
		wg.Add(1)
		go worker(ctx, n, jobs, &wg)
	}
	long := trace.StartRegion(ctx, "long")
	for i := range 40 {
		jobs <- i % 20
	}
	long.End()
	close(jobs)
	close(ready)
	wg.Wait()
	trace.Stop()
	if err := f.Close(); err != nil {
		panic(err)
	}
}
