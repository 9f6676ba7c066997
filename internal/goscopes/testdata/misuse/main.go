// Misuse ends regions and tasks twice, on another goroutine, or not at all. It wrote
// testdata/misuse.trace, with go run ./testdata/misuse FILE.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/trace"
	"time"
)

const step = time.Millisecond

func main() {
	f, err := os.Create(os.Args[1])
	if err == nil {
		err = trace.Start(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "misuse:", err)
		os.Exit(1)
	}
	ctx := context.Background()
	for _, do := range []func(context.Context){left, twice, twiceElsewhere, twiceAsOthersDo, job} {
		done := make(chan bool)
		go func() { defer close(done); do(ctx) }()
		<-done
	}
	handed(ctx)
	time.Sleep(4 * step)
	trace.Stop()
	f.Close()
}

// left never ends its region.
func left(ctx context.Context) {
	trace.StartRegion(ctx, "left")
	time.Sleep(step)
}

// twice ends inner twice, the second time at the end of outer.
func twice(ctx context.Context) {
	outer, inner := trace.StartRegion(ctx, "outer"), trace.StartRegion(ctx, "inner")
	time.Sleep(step)
	inner.End()
	time.Sleep(2 * step)
	inner.End()
	outer.End()
}

// twiceElsewhere has another goroutine end a region again.
func twiceElsewhere(ctx context.Context) {
	r, done := trace.StartRegion(ctx, "again"), make(chan bool)
	r.End()
	time.Sleep(step)
	go func() { r.End(); close(done) }()
	<-done
}

// twiceAsOthersDo ends a region twice while another goroutine has one of that name open.
func twiceAsOthersDo(ctx context.Context) {
	begun, go1, done := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		defer trace.StartRegion(ctx, "shared").End()
		close(begun)
		<-go1
		time.Sleep(step)
	}()
	<-begun
	r := trace.StartRegion(ctx, "shared")
	r.End()
	r.End()
	close(go1)
	<-done
}

// job ends a task twice.
func job(ctx context.Context) {
	_, t := trace.NewTask(ctx, "job")
	time.Sleep(step)
	t.End()
	time.Sleep(step)
	t.End()
}

// handed has regions ended by another goroutine: by a new one, and by main.
func handed(ctx context.Context) {
	r, done := trace.StartRegion(ctx, "handed"), make(chan bool)
	go func() { time.Sleep(step); r.End(); close(done) }()
	<-done
	done = make(chan bool)
	go func() { r = trace.StartRegion(ctx, "to main"); close(done); time.Sleep(2 * step) }()
	<-done
	time.Sleep(step)
	r.End()
}
