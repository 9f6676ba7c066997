package states

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestView: times are of one execution. Without thread switches the states that divide running are
// unknown; with them running is the rest, or unknown if there is none.
func TestView(t *testing.T) {
	g := &analysis.StateGroup{Text: "parse", Count: 4}
	g.Total[states.CPU], g.Total[states.Lock] = 600, 200
	left := states.Facts{Switches: true}
	left.Totals[states.Running] = 1
	for _, c := range []struct {
		facts   states.Facts
		unknown string
	}{{states.Facts{Switches: true}, "running"}, {left, ""}, {states.Facts{}, "cpu preempted textfault datafault stalled"}} {
		r := figures([]group{groupOf(g, analysis.ByName)}, &c.facts).Rows[0]
		if len(r.Values) != len(View.Columns) {
			t.Fatalf("%d values of %d columns", len(r.Values), len(View.Columns))
		}
		want := map[string]float64{"mean": 200, "total": 800, "count": 4, "cpu": 150, "lock": 50}
		var unknown []string
		for i, x := range View.Columns {
			switch v := r.Values[i]; {
			case math.IsNaN(v):
				unknown = append(unknown, x.Name)
			case v != want[x.Name]:
				t.Errorf("%s: %v, want %v", x.Name, v, want[x.Name])
			}
			if strings.ContainsAny(x.Name, ".+-") {
				t.Errorf("column %s can't be in a condition", x.Name)
			}
		}
		if got := strings.Join(unknown, " "); got != c.unknown {
			t.Errorf("unknown are %q, want %q", got, c.unknown)
		}
	}
	if _, err := View.Rows(context.Background(), tracetest.OpenText(t, empty), &analysis.Selection{}); !errors.Is(err, gotrace.ErrNone) {
		t.Errorf("%v", err)
	}
}

func TestNotes(t *testing.T) {
	f := &states.Facts{Problems: []string{"a piece is missing"}, SwitchesWhy: "nobody asked"}
	f.Checks.Sum.Known, f.Checks.Sum.Text = true, "they do not add up"
	if got := strings.Join(notes(f), "; "); got != "a piece is missing; running time is not split into on a CPU and off it: nobody asked; NOT ok: they do not add up" {
		t.Error(got)
	}
}
