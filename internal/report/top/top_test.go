package top

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// nested is f1 with f2 in it, f3 twice, and g, which has not ended. A tick is a nanosecond.
const nested = `header rate=1000000000
state closed=1 tick=9000
chunk blocks sealed
name 2 "f1"
name 3 "f2"
name 4 "f3"
name 5 "g"
calib ticks=1000 mono=0 wall=1700000000000000000 bracket=20
stop ticks=9000
chunk records owner=0 since=1000 sealed
  anchor start=1000 thread=12 cpu=77
  task "f1" g=7 start=2000 stop=4000 cpu=1500/exact
  task "f2" g=7 start=2500 stop=3000 cpu=400/exact
  task "f3" g=7 start=5000 stop=5010
  task "f3" g=7 start=6000 stop=6030
  task "g" g=7 start=7000 open
`

// TestCalls has functions whose calls were not all recorded, one of them without any scope.
func TestCalls(t *testing.T) {
	tr := tracetest.OpenText(t, strings.Replace(nested, "stop ticks=9000", "name 6 \"f4\"\ncalls ticks=8000 4:600:2:-1 6:7:0:500\nunseen ticks=8000 4:400\nstop ticks=9000", 1))
	r, err := Of(context.Background(), tr, &analysis.Selection{}, "name", false)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"f1": 1, "f2": 1, "f3": 1000, "f4": 7, "g": 1}
	for s := range r.Document.(*document).Scopes {
		if unseen := map[string]int64{"f3": 400}; s.Calls.N != want[s.Name] || s.Unseen.N != unseen[s.Name] {
			t.Errorf("%s: %d calls, want %d; %d of them unseen", s.Name, s.Calls.N, want[s.Name], s.Unseen.N)
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
	var b report.Text
	if r.Text(&b); !strings.Contains(b.String(), "≈1,000") || !strings.Contains(b.String(), analysis.Budget) {
		t.Errorf("the text lacks the calls:\n%s", b.String())
	}
	// For a part of the trace the number of calls is not known.
	r, err = Of(context.Background(), tr, &analysis.Selection{From: 10}, "name", false)
	if err != nil {
		t.Fatal(err)
	}
	for s := range r.Document.(*document).Scopes {
		if s.Calls.Kind != report.Unknown || s.Unseen.Kind != report.Unknown {
			t.Errorf("%s: %d calls of a part of the trace", s.Name, s.Calls.N)
		}
	}
}

// TestTop sums up by name, in each order, and marks unknown values.
func TestTop(t *testing.T) {
	tr := tracetest.OpenText(t, nested)
	for order, want := range map[string]string{
		"total": "f1 f2 f3 g", "self": "f1 f2 f3 g", "count": "f3 f1 f2 g", "mean": "f1 f2 f3 g", "max": "f1 f2 f3 g",
		"p99": "f1 f2 f3 g", "cpu": "f1 f2 g f3", "name": "f1 f2 f3 g",
	} {
		if !slices.Contains(Orders, order) {
			t.Errorf("%s is no order", order)
		}
		r, err := Of(context.Background(), tr, &analysis.Selection{}, order, false)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for s := range r.Document.(*document).Scopes {
			names = append(names, s.Name)
			switch s.Name {
			case "f1":
				if s.Count != 1 || s.Total != 2000 || s.Self.N != 1500 || s.CPU.N != 1500 {
					t.Errorf("f1: %+v", s)
				}
			case "f3":
				if s.Count != 2 || s.Total != 40 || s.Mean.N != 20 || s.Max.N != 30 || s.CPU.Kind != report.Unknown {
					t.Errorf("f3: %+v", s)
				}
			case "g":
				if s.Count != 0 || s.Mean.Kind != report.Unknown || s.Open != 1 || s.OpenTime != 2000 {
					t.Errorf("g: %+v", s)
				}
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("by %s: %s, want %s", order, got, want)
		}
		var text report.Text
		if r.Text(&text); !strings.Contains(text.String(), "\nf1 ") {
			t.Errorf("the text has no row of f1:\n%s", text.String())
		}
	}
}

// TestTopStops: if the context is cancelled, Of returns its error.
func TestTopStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Of(ctx, tracetest.OpenText(t, nested), &analysis.Selection{}, "total", false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestHeldAtLeast: a hold that may have begun before its record has a lower bound.
func TestHeldAtLeast(t *testing.T) {
	text := strings.Replace(nested, `name 5 "g"`, "name 5 \"g\"\nname 6 \"since.mu\"\nname 7 \"exact.mu\"", 1) +
		"  hold \"since.mu\" g=7 start=7100 stop=7200 | addr:0x10 goid:0 uint:0x10c\n" +
		"  hold \"exact.mu\" g=7 start=7300 stop=7450 | addr:0x20 goid:0 uint:0x100\n"
	r, err := Of(context.Background(), tracetest.OpenText(t, text), &analysis.Selection{}, "name", false)
	if err != nil {
		t.Fatal(err)
	}
	var b report.Text
	r.Text(&b)
	for name, want := range map[string]string{"since.mu": "since.mu 0 0ns - 1 ≥ 100ns ≥ 100ns", "exact.mu": "exact.mu 0 0ns - 1 150ns 150ns"} {
		i := strings.Index(b.String(), "\n"+name)
		if i < 0 {
			t.Fatalf("no %s in\n%s", name, b.String())
		}
		line, _, _ := strings.Cut(b.String()[i+1:], "\n")
		if got := strings.Join(strings.Fields(line), " "); !strings.HasPrefix(got, want+" ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
