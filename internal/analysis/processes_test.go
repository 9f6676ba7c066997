package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestProcesses: a merged trace's processes are listed, up to the limit, with what their
// rings have overwritten.
func TestProcesses(t *testing.T) {
	var b strings.Builder
	b.WriteString("header chunk=65536 clock=monotonic rate=1000000000 pid=0\nstate closed=1 tick=9000\nchunk blocks sealed\n")
	for i := range mostProcesses + 3 {
		fmt.Fprintf(&b, "member %d \"/bin/p\" \"h\" \"\" \"\" \"\" parent=%d shift=30 pid=%d from=1000 to=9000 error=%d overwritten=%d\n", i+1, min(i, 2), 100+i, i-1, i%2*i)
	}
	b.WriteString("stop ticks=9000\n")
	r := Report{Trace: tracetest.OpenText(t, b.String())}
	var l facts
	r.processes(&l)
	var got []string
	for _, f := range l.list {
		got = append(got, f.Text)
	}
	want := []string{
		"1 p 100 on h, from 0ns for 8.00µs, no pair of request and response shows how far its clock is off",
		"└ 2 p 101 on h, from 0ns for 8.00µs, clock exact, 1 overwritten",
		"  └ 3 p 102 on h, from 0ns for 8.00µs, clock within ±1ns",
	}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("%q, want %q", got[i], w)
		}
	}
	if len(got) != mostProcesses+1 || got[mostProcesses] != "… and 3 more: info --json lists all" {
		t.Errorf("%d lines, the last is %q", len(got), got[len(got)-1])
	}
	if line := OverwrittenLine(r.Trace); !strings.HasPrefix(line, "older records were overwritten by the processes' rings: 1 of p 101, 3 of p 103") {
		t.Errorf("%q", line)
	}
}
