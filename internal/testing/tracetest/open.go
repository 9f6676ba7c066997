package tracetest

import (
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
)

// OpenFile opens the trace at path until the test ends, or fails it.
func OpenFile(t testing.TB, path string) *trace.Trace {
	t.Helper()
	tr, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}
