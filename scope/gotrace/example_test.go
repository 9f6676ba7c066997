//go:build !scope_off

package gotrace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

func Example() {
	dir, err := os.MkdirTemp("", "scope")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(filepath.Join(dir, "x.scope"), gotrace.With()); err != nil {
		fmt.Println(err)
		return
	}
	defer scope.Task("main")()
	fmt.Println("Go's tracer is on:", trace.IsEnabled())
	if err := scope.Stop(); err != nil {
		fmt.Println(err)
	}
	fmt.Println("and after Stop:", trace.IsEnabled())
	// Output:
	// Go's tracer is on: true
	// and after Stop: false
}

// The program takes its own trace while it is being recorded.
func ExampleYield() {
	release := gotrace.Yield()
	defer release()
	f, err := os.CreateTemp("", "trace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	if err := trace.Start(f); err != nil {
		fmt.Println(err)
		return
	}
	trace.Stop()
	fmt.Println(f.Close())
	// Output: <nil>
}
