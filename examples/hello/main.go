// Command hello is the README's example: three goroutines, one lock, one trace.
package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

func main() {
	if err := scope.Start("traces/", gotrace.With()); err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
	defer scope.Stop()
	defer scope.Task("main")()

	var (
		mu    sync.Mutex
		sum   float64
		ready sync.WaitGroup
	)
	for i := range 3 {
		ready.Add(1)
		scope.Go(fmt.Sprint("worker ", i), func() {
			defer ready.Done()
			defer scope.Task("f1", i)()
			part := f2(i)
			defer scope.Lock(&mu, "sum.mu")()
			sum += part
		})
	}
	ready.Wait()
	fmt.Printf("the sum is %.3f; now run: scopeview top %s\n", sum, scope.Path())
}

func f2(i int) (part float64) {
	defer scope.Task("f2")()
	for n := range 10_000_000 {
		part += 1 / float64(n*3+i+1)
	}
	return part
}
