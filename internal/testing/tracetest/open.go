package tracetest

import (
	"iter"
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

// Events iterates over the events of a trace, and fails the test if they can't be read. An event
// is valid until the next one.
func Events(t testing.TB, tr *trace.Trace, o trace.Options) iter.Seq[*trace.Event] {
	return func(yield func(*trace.Event) bool) {
		t.Helper()
		if err := tr.Events(o, yield); err != nil {
			t.Fatal(err)
		}
	}
}
