package profile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// made returns a profile with known sums: 3 s of CPU time in hot, of which main has 1 s through
// mid, and a wait of 2 s in main for the network, in a slow execution.
func made() *samples.Profile {
	frame := func(name, file string, line int) *symbols.Frame {
		return &symbols.Frame{Func: name, File: file, Line: line}
	}
	hot, mid, top := frame("example.com/x.hot", "/x/hot.go", 7), frame("example.com/x.mid", "/x/mid.go", 8), frame("main.main", "/m/main.go", 9)
	poll := frame("internal/poll.runtime_pollWait", "/go/netpoll.go", 351)
	read := frame("net.(*conn).Read", "/go/net.go", 196)
	return &samples.Profile{
		Metrics: []samples.Metric{
			{Name: "cpu", Title: "CPU time", Unit: samples.Nanoseconds, Sampled: true}, {Name: "network", Title: "waits for the network", Unit: samples.Nanoseconds},
			{Name: "off", Title: "all waits", Unit: samples.Nanoseconds, Of: []int{1}},
		},
		Preset: "cpu",
		Stacks: []samples.Stack{
			{Frames: []*symbols.Frame{hot, mid, top}, Values: []int64{1e9, 0, 0}, Labels: samples.Labels{Goid: 1, Track: "worker"}},
			{Frames: []*symbols.Frame{hot, top}, Values: []int64{2e9, 0, 0}, Labels: samples.Labels{Goid: 2}},
			{Frames: []*symbols.Frame{poll, read, top}, Values: []int64{0, 2e9, 0}, Labels: samples.Labels{Goid: 2, Slow: true}},
		},
	}
}

func viewOf(t *testing.T, p *samples.Profile, columns, functions string) *View {
	t.Helper()
	names, err := glob.Parse(functions)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewView(p, nil, columns, "", names)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func treeOf(v *View, least float64) *Report {
	v.Least = least
	return Tree.Of(v)
}

// textOf returns the rows of a report's text, without the space between cells.
func textOf(r *Report, limit int) (rows []string) {
	b := report.Text{Limit: limit}
	r.Text(&b)
	for line := range strings.Lines(b.String()) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	return rows
}

func has(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no line %q in\n%s", w, strings.Join(got, "\n"))
		}
	}
}

func TestRows(t *testing.T) {
	v := viewOf(t, made(), "e.cpu%:i.cpu:i.off", "")
	has(t, textOf(Functions.Of(v), 0), "3.000 100.00 3.000 2.000 <Total>", "3.000 100.00 3.000 0. example.com/x.hot", "0. 0. 1.000 0. example.com/x.mid", "0. 0. 3.000 2.000 main.main")
	has(t, textOf(Lines.Of(v), 0), "3.000 100.00 3.000 0. example.com/x.hot, hot.go:7")
	has(t, textOf(Goroutines.Of(v), 0), "2.000 66.67 2.000 2.000 2", "1.000 33.33 1.000 0. 1 worker")
	has(t, textOf(Tracks.Of(v), 0), "1.000 33.33 1.000 0. worker", "2.000 66.67 2.000 2.000 (goroutines without a name)")
	has(t, textOf(Functions.Of(v), 1), "3.000 100.00 3.000 2.000 <Total>", "3.000 100.00 3.000 0. example.com/x.hot", "… and 4 more functions (-n 0 shows all)")
	if got := textOf(Functions.Of(viewOf(t, made(), "i.cpu", "main.*")), 0); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "x.hot") }) {
		t.Errorf("%q", got)
	}
	if got := textOf(Functions.Of(viewOf(t, &samples.Profile{}, "", "")), 0); !slices.Contains(got, "no samples") {
		t.Errorf("of nothing: %q", got)
	}
}

func TestCallersAndTree(t *testing.T) {
	p := made()
	p.Aliases = map[string][]string{"example.com/x.hot": {"_hot", "__hot", "hot_1", "hot_2"}, "main.main": {"never"}}
	v := viewOf(t, p, "i.cpu", "")
	r, err := Callers(v, "x.hot", func(caller, callee string) string {
		return map[string]string{"main.main x.hot": "inlined"}[caller+" "+strings.TrimPrefix(callee, "example.com/")]
	}, "a note")
	if err != nil {
		t.Fatal(err)
	}
	has(t, textOf(r, 0), "2.000 3.000 main.main inlined", "1.000 1.000 example.com/x.mid", "a note")
	if r, err = Callers(v, "x.hot", nil); err != nil {
		t.Fatal(err)
	}
	has(t, textOf(r, 0), "2.000 3.000 main.main", "1.000 1.000 example.com/x.mid", "3.000 3.000 *example.com/x.hot", "example.com/x.hot is also called _hot, __hot, hot_1, hot_2")
	has(t, textOf(treeOf(v, 0), 0), "3.000 <Total>", "3.000 main.main", "2.000 example.com/x.hot", "1.000 example.com/x.mid")
	has(t, textOf(treeOf(v, 0.5), 0), "2 calls of less than 50% left out (--least 0 shows all)")
}

// TestSlowest: the sentence names the wait at the program's own place, not in the library; the
// table below covers only the slow executions.
func TestSlowest(t *testing.T) {
	p := made()
	p.Executions = samples.Executions{Slow: 1, Rest: 2, Limit: 2e9}
	got := textOf(Functions.Of(viewOf(t, p, "i.cpu:i.off", "")), 0)
	has(t, got, "a slow execution takes 500ms longer, 100% of it: waits for the network, most in main.main, main.go:9",
		"2.00s 0ns +2.00s network", "0ns 1.50s -1.50s cpu", "2.00s 0ns +2.00s network main.main, main.go:9", "0ns 1.50s -1.50s cpu example.com/x.hot, hot.go",
		"0. 2.000 main.main")
	if slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, " example.com/x.hot") }) {
		t.Errorf("what other executions did is there too: %q", got)
	}
	if len(p.Stacks) != 3 {
		t.Error("the profile itself was changed")
	}
}

func TestFindFunction(t *testing.T) {
	p := &samples.Profile{}
	for _, f := range []string{"a/b.(*T).Get", "a/b.Get", "c.Put", "slices.Sort[...]"} {
		p.Stacks = append(p.Stacks, samples.Stack{Frames: []*symbols.Frame{{Func: f}}})
	}
	for name, want := range map[string]string{"a/b.Get": "a/b.Get", "Put": "c.Put", "(*T).Get": "a/b.(*T).Get", "b.Get": "a/b.Get", "Sort": "slices.Sort[...]", "<Total>": "<Total>", "Get": "", "None": ""} {
		got, err := FindFunction(p, name)
		if got != want || want == "" && !errors.Is(err, ErrNoFunction) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := FindFunction(&samples.Profile{}, "Get"); !errors.Is(err, ErrNoFunction) || !strings.Contains(err.Error(), "there are no samples and no waits") {
		t.Errorf("without samples: %v", err)
	}
}

// TestNegativeShares: shares of values that are differences are relative to the absolute sum, and
// the report says so; rows that became less are sorted by magnitude, and none is left out for being
// negative.
func TestNegativeShares(t *testing.T) {
	frame := func(name string) *symbols.Frame { return &symbols.Frame{Func: name} }
	more, less, small, top := frame("more"), frame("less"), frame("small"), frame("main.main")
	p := &samples.Profile{
		Metrics: []samples.Metric{{Name: "space", Title: "space", Unit: samples.Bytes, Whole: 1000, WholeOf: "the absolute sum"}},
		Preset:  "space",
		Stacks: []samples.Stack{
			{Frames: []*symbols.Frame{more, top}, Values: []int64{690}},
			{Frames: []*symbols.Frame{less, top}, Values: []int64{-300}},
			{Frames: []*symbols.Frame{small, top}, Values: []int64{10}},
		},
	}
	got := textOf(Functions.Of(viewOf(t, p, "", "")), 0)
	want := []string{
		"space: shares are of the absolute sum, 1,000: some values are negative, as in the difference of two profiles",
		"space: space, in bytes", "",
		"e.space % i.space % function", "400 40.00 400 40.00 <Total>", "690 69.00 690 69.00 more", "-300 -30.00 -300 -30.00 less", "10 1.00 10 1.00 small", "0. 0. 400 40.00 main.main",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if tree := strings.Join(textOf(treeOf(viewOf(t, p, "", ""), 0.05), 0), "\n"); !strings.Contains(tree, "-300 -30.00 -300 -30.00 less") || strings.Contains(tree, "small") {
		t.Errorf("the tree:\n%s", tree)
	}
}
