package analysis

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestEnd: the report has what a trace records of the program's end, and no more.
func TestEnd(t *testing.T) {
	for _, c := range []struct {
		name, fact string
		closed     string
		state      State
		how, text  string
	}{
		{"stopped", "", "1", StateClosed, "", ""},
		{"ended well", `info "ended" "exit 0"`, "1", StateClosed, "", ""},
		{"failed", `info "ended" "exit 3"`, "1", StateClosed, "exit", "exit status 3 30.0ms after"},
		{"panicked", `info "ended" "exit 2"`, "1", StateClosed, "exit", "exit status 2, as a Go program does that panics"},
		{"killed", `info "ended" "signal killed"`, "1", StateClosed, "signal", "by a signal (killed) 30.0ms after"},
		{"deadlock", `info "deadlock" "all goroutines"`, "1", StateClosed, "deadlock", "deadlock: no goroutine"},
		{"gone", "", "0", StateAbandoned, "unclosed", "without Stop 30.0ms after the recording began: by a panic, os.Exit, log.Fatal or a signal; the trace does not show which"},
		{"perhaps running", "", "0", StateUnknown, "unclosed", "or still runs; that is not known here"},
		{"running", "", "0", StateWriting, "", ""},
		{"nobody asked", "", "0", "", "", ""},
		{"no fact of ours", `info "ended" "somehow"`, "1", StateClosed, "", ""},
	} {
		tr := tracetest.OpenText(t, "header id=01 pid=5 clock=monotonic start=1000 rate=1000000000\nstate closed="+c.closed+" tick=30001000\nchunk blocks sealed\n"+c.fact+"\nstop ticks=30001000\n")
		e := EndOf(tr, c.state)
		if e == nil {
			e = &End{}
		}
		if e.How != c.how || !strings.Contains(e.Text, c.text) || (e.Text == "") != (c.how == "") {
			t.Errorf("%s: %+v, want %s: %s", c.name, *e, c.how, c.text)
		}
	}
}
