//go:build scope_off

package gotrace_test

import (
	"path/filepath"
	"runtime/trace"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestOff: all functions compile and do nothing.
func TestOff(t *testing.T) {
	end := recordtest.Begin(t, filepath.Join(t.TempDir(), "x.scope"), gotrace.With(gotrace.WithoutProfile(), gotrace.WithCounter("task-clock", 1e6), gotrace.WithHeap()))
	if trace.IsEnabled() {
		t.Error("Go's tracer is on")
	}
	gotrace.Yield()()
	end()
}
