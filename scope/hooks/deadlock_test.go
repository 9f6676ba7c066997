//go:build !scope_off

package hooks

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
)

// TestDeadlock: a recording ends when the runtime reports that no goroutine of the program can
// continue, not before, and its trace records why.
func TestDeadlock(t *testing.T) {
	var dead, looks atomic.Int64
	asleep(func() bool {
		looks.Add(1)
		return dead.Load() != 0
	})
	defer asleep(func() bool { return false })
	record.Instrument(1)
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := scope.Start(path); err != nil {
		t.Fatal(err)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	until("nobody looks", func() bool { return looks.Load() >= 3 })
	if !scope.Stats().Running {
		t.Error("it has ended before")
	}
	dead.Store(1)
	until("it goes on", func() bool { return !scope.Stats().Running })
	_ = scope.Stop() // it is over, but may still be closing
	tr := tracetest.OpenFile(t, path)
	if !tr.Closed() || tr.Lookup("deadlock") == "" {
		t.Errorf("closed %v, deadlock %q", tr.Closed(), tr.Lookup("deadlock"))
	}
}
