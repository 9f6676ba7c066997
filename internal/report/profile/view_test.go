package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestFunctionsView: a function's inclusive values include those of its callees. Rows without a
// value in the columns are left out, and a metric that the source lacks is unknown, not 0.
func TestFunctionsView(t *testing.T) {
	f, g, h := &symbols.Frame{Func: "main.f"}, &symbols.Frame{Func: "main.g"}, &symbols.Frame{Func: "main.h"}
	p := &samples.Profile{
		Samples: 3, Notes: []string{"estimated"},
		Metrics: []samples.Metric{{Name: "cpu"}, {Name: "lock"}, {Name: "calls"}, {Name: "off", Of: []int{1}}},
		Stacks: []samples.Stack{
			{Frames: []*symbols.Frame{f, g}, Values: []int64{10, 0, 0, 0}},
			{Frames: []*symbols.Frame{g}, Values: []int64{5, 7, 0, 0}},
			{Frames: []*symbols.Frame{h}, Values: []int64{0, 0, 3, 0}},
		},
	}
	rows := func(wanted func(string) bool) string {
		x := FiguresOf(p, Functions, wanted)
		var lines []string
		for _, r := range x.Rows {
			lines = append(lines, fmt.Sprint(r.Name, r.Values))
		}
		return strings.Join(append(lines, x.Notes...), ", ")
	}
	all := func(string) bool { return true }
	if got, want := rows(all), "<Total>[15 15 7 7], main.f[10 10 0 0], main.g[5 15 7 7], estimated"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := rows(func(name string) bool { return name == "main.f" }), "main.f[10 10 0 0], estimated"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.Metrics[3].Name = "bytes"
	if got, want := rows(all), "<Total>[15 15 NaN NaN], main.f[10 10 NaN NaN], main.g[5 15 NaN NaN], estimated"; got != want {
		t.Errorf("without waits: %s, want %s", got, want)
	}
	p.Metrics[0].Sampled = true
	p.Stacks = p.Stacks[2:]
	p.Stacks[0].Values = []int64{0, 7, 0, 0}
	p.Metrics[3].Name = "off"
	if got, want := rows(all), "<Total>[NaN NaN 7 7], main.h[NaN NaN 7 7], estimated"; got != want {
		t.Errorf("without samples: %s, want %s", got, want)
	}
	const none = "header\nstate closed=1 tick=9000\nchunk blocks\ncalib ticks=1000 mono=1000 wall=1700000000000000000\nstop ticks=9000\n"
	if _, err := FunctionsView.Rows(context.Background(), tracetest.OpenText(t, none), &analysis.Selection{}); !errors.Is(err, samples.ErrNone) {
		t.Errorf("%v", err)
	}
}

// TestCallersView: rows have the function's values that belong to its callers and callees, and the
// whole is the function's value.
func TestCallersView(t *testing.T) {
	f, g, h := &symbols.Frame{Func: "main.f"}, &symbols.Frame{Func: "main.g"}, &symbols.Frame{Func: "main.h"}
	p := &samples.Profile{
		Samples: 3, Metrics: []samples.Metric{{Name: "cpu"}},
		Stacks: []samples.Stack{
			{Frames: []*symbols.Frame{f, g, h}, Values: []int64{10}},
			{Frames: []*symbols.Frame{g}, Values: []int64{5}},
			{Frames: []*symbols.Frame{h}, Values: []int64{3}},
		},
	}
	x, err := CallersFigures(p, "g", func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range x.Rows {
		rows = append(rows, fmt.Sprint(r.Kind, " ", r.Name, r.Values))
	}
	want := "callee main.f[10 NaN], caller <Total>[5 NaN], caller main.h[10 NaN], itself main.g[5 NaN]"
	slices.Sort(rows)
	if got := strings.Join(rows, ", "); got != want || x.Whole[0] != 15 {
		t.Errorf("%s of %v, want %s of 15", got, x.Whole, want)
	}
	if _, err := CallersFigures(p, "none", func(string) bool { return true }); !errors.Is(err, ErrNoFunction) {
		t.Errorf("%v", err)
	}
}
