//go:build !scope_off

package hooks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestStatesAreGivenUp has goroutines hand each other values as fast as they can: Go's
// execution trace takes more than its share, in a ring and without, and the trace says so.
func TestStatesAreGivenUp(t *testing.T) {
	for name, size := range map[string]scope.Option{"whole": scope.WithLimit(scope.NoLimit), "ring": scope.WithRing(scope.MinRing)} {
		t.Run(name, func(t *testing.T) {
			path := begin(t, 0.03, size, gotrace.With())
			there, back, quit := make(chan int), make(chan int), make(chan bool)
			go func() {
				for n := range there {
					back <- n
				}
				close(quit)
			}()
			ended := ""
			for deadline := time.Now().Add(30 * time.Second); !strings.Contains(ended, "more than its share of the budget") && time.Now().Before(deadline); {
				for until := time.Now().Add(200 * time.Millisecond); time.Now().Before(until); {
					for range 1000 {
						there <- 1
						<-back
					}
				}
				ended = tracetest.OpenFile(t, path).Lookup("gotrace_ended")
			}
			close(there)
			<-quit
			if err := scope.Stop(); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(ended, "more than its share of the budget") {
				t.Errorf("gotrace_ended is %q", ended)
			}
		})
	}
}
