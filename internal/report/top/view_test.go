package top

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestView: a row has a value for each column, and NaN for what is unknown.
func TestView(t *testing.T) {
	f, err := View.Rows(context.Background(), tracetest.OpenText(t, nested+"event \"f1\" g=7 start=8000\n"), &analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range f.Rows {
		line := r.Name + " " + r.Kind + ":"
		for i, c := range View.Columns {
			line += fmt.Sprintf(" %s=%v", c.Name, r.Values[i])
		}
		got = append(got, strings.ReplaceAll(line, "NaN", "?"))
	}
	want := []string{
		"f1 scope: total=2000 count=1 self=1500 mean=2000 p50=2000 p90=2000 p99=2000 max=2000 cpu=1500 cpu/wall=0.75",
		"f2 scope: total=500 count=1 self=500 mean=500 p50=500 p90=500 p99=500 max=500 cpu=400 cpu/wall=0.8",
		"f3 scope: total=40 count=2 self=40 mean=20 p50=10 p90=30 p99=30 max=30 cpu=? cpu/wall=?",
		"g scope: total=? count=0 self=? mean=? p50=? p90=? p99=? max=? cpu=? cpu/wall=?",
		"f1 event: total=? count=1 self=? mean=? p50=? p90=? p99=? max=? cpu=? cpu/wall=?",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestViewOfPartlyKnownCPU: the CPU time of one execution is the mean of the known ones.
func TestViewOfPartlyKnownCPU(t *testing.T) {
	more := strings.ReplaceAll(nested, "start=6000 stop=6030", "start=6000 stop=6030 cpu=20/likely")
	f, err := View.Rows(context.Background(), tracetest.OpenText(t, more), &analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	r := f.Rows[2]
	for i, c := range View.Columns {
		if want, ok := map[string]float64{"cpu": 20, "cpu/wall": 20. / 30}[c.Name]; r.Name != "f3" || ok && r.Values[i] != want {
			t.Errorf("%s: %s is %v, want %v", r.Name, c.Name, r.Values[i], want)
		}
	}
}
