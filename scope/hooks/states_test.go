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

// TestStatesAreGivenUp: goroutines hand each other values as fast as they can. Go's execution trace
// exceeds its share, in a ring and without, and the trace records that.
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
			for deadline := time.Now().Add(30 * time.Second); !strings.Contains(ended, "exceeded its share of the budget") && time.Now().Before(deadline); {
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
			if !strings.Contains(ended, "exceeded its share of the budget") {
				t.Errorf("gotrace_ended is %q", ended)
			}
		})
	}
}

// TestG46StatesOff: goroutines hand over to one another as fast as they can. With a budget too
// small for that, Go's execution trace is soon switched off: the trace records why and since when,
// and that it ended. With all of the CPU time it stays on.
func TestG46StatesOff(t *testing.T) {
	for _, c := range []struct {
		share float64
		off   bool
	}{{0.001, true}, {1, false}} {
		path := begin(t, c.share, scope.WithLimit(scope.NoLimit), gotrace.With())
		there, back, quit := make(chan int), make(chan int), make(chan bool)
		go func() {
			for n := range there {
				back <- n
			}
			close(quit)
		}()
		fact, began := "", time.Now()
		for deadline := began.Add(30 * time.Second); time.Now().Before(deadline); {
			for range 10_000 {
				there <- 1
				<-back
			}
			fact = tracetest.OpenFile(t, path).Lookup("gotrace")
			if strings.HasPrefix(fact, "off") || !c.off && time.Since(began) > 500*time.Millisecond {
				break
			}
		}
		if c.off {
			t.Logf("G46: with a budget of %v %% Go's execution trace is off after %v", 100*c.share, time.Since(began).Round(time.Millisecond))
		}
		for range 50_000 { // unknown while it is off
			there <- 1
			<-back
		}
		close(there)
		<-quit
		if err := scope.Stop(); err != nil {
			t.Fatal(err)
		}
		tr := tracetest.OpenFile(t, path)
		off := strings.HasPrefix(fact, "off: it exceeded its share of the budget") && strings.Contains(fact, "off since")
		if off != c.off {
			t.Errorf("with %v of the CPU time the trace says %q", c.share, fact)
		}
		if ended := tr.Lookup("gotrace_ended") != ""; ended != c.off {
			t.Errorf("with %v of the CPU time it ended: %v", c.share, ended)
		}
	}
}
