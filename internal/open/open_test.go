package open

import (
	"bytes"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

const one = `header rate=1000000000 start=1000 mono=1000
state closed=1 tick=9000
chunk blocks sealed
name 2 "f1"
stop ticks=9000
chunk records owner=0 since=1000 sealed
  anchor start=1000 thread=12 cpu=77
  task "f1" g=7 start=2000 stop=4000
`

// TestReader checks that a trace opens whole, and that one without the processes asked for is an error.
func TestReader(t *testing.T) {
	b := tracetest.Assemble(t, one)
	tr, err := Reader(bytes.NewReader(b), int64(len(b)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool { n++; return tr.Name(e.Name) == "f1" }); err != nil || n != 1 {
		t.Errorf("%d events, %v", n, err)
	}
	some, err := trace.ParseProcesses("9")
	if err != nil {
		t.Fatal(err)
	}
	if tr, err := Reader(bytes.NewReader(b), int64(len(b)), Options{Processes: some}); tr != nil || err == nil {
		t.Errorf("a trace without process 9 opens: %v", err)
	}
	if tr, err := Reader(bytes.NewReader(b[:100]), 100, Options{}); tr != nil || err == nil {
		t.Error("a header that is cut off opens")
	}
}
