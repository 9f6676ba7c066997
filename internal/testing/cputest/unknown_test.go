//go:build linux && (amd64 || arm64) && !scope_off

package cputest

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// Where a witness is missing a CPU time is unknown, and never a number.
func TestUnknown(t *testing.T) {
	cases := []struct {
		name string
		opts []scope.Option
	}{
		{"switched off", []scope.Option{scope.WithCPU(scope.CPUOff)}},
		{"heap backing", []scope.Option{scope.WithBacking(scope.HeapBacking)}},
		{"this build", nil},
	}
	if witnessed {
		cases = cases[:2] // make test makes the others, with their tags
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "unknown.scope")
			if err := scope.Start(path, c.opts...); err != nil {
				t.Fatal(err)
			}
			const n = 200
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					for range n {
						unknownScopes()
					}
				})
			}
			wg.Wait()
			if err := scope.Stop(); err != nil {
				t.Fatal(err)
			}
			checkUnknown(t, path, 3*n*3)
		})
	}
}

// unknownScopes makes three scopes: a short one, one that waits, and one that
// ends with arguments.
func unknownScopes() {
	func() { defer scope.Task("short")() }()
	s := scope.Begin("ends with arguments")
	func() {
		defer scope.Task("waits")()
		time.Sleep(time.Microsecond)
	}()
	s.End(1)
}

func checkUnknown(t *testing.T, path string, want int) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	if w := tr.Header().Witness; w&format.WitnessSwitch != 0 {
		t.Errorf("the header says that CPU time is known: %b", w)
	}
	if tr.Lookup("witness_reason")+tr.Lookup("path_reason") == "" {
		t.Error("the trace does not say why CPU time is unknown")
	}
	got := 0
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind == format.KindTask {
			got++
			if e.Quality != format.Unknown || e.CPU != 0 {
				t.Errorf("%s: %v, %v", tr.Name(e.Name), e.Quality, time.Duration(e.CPU))
			}
		}
		if got >= 10*want {
			break
		}
	}
	if got != want {
		t.Errorf("%d scopes were recorded, not %d", got, want)
	}
}
