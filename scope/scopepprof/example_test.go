package scopepprof_test

import (
	"context"
	"fmt"
	"runtime/pprof"

	"github.com/scopeview/scopeview/scope/scopepprof"
)

// The scope's name is pprof.Do(endpoint, tenant), and its arguments are the labels.
func ExampleDo() {
	ctx := context.Background()
	scopepprof.Do(ctx, pprof.Labels("endpoint", "/orders", "tenant", "blue"), func(ctx context.Context) {
		tenant, _ := pprof.Label(ctx, "tenant")
		fmt.Println("for", tenant)
	})
	// Output: for blue
}

// The goroutine's row is called worker, and its samples in a CPU profile have that label:
// go tool pprof -tagfocus track=worker.
func ExampleGo() {
	done := make(chan string)
	scopepprof.Go(context.Background(), "worker", func(ctx context.Context) {
		track, _ := pprof.Label(ctx, "track")
		done <- track
	})
	fmt.Println(<-done)
	// Output: worker
}
