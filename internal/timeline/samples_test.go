package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// sampleFixture has a container with samples and their sums by package callgraph: under node the page's
// own sums are compared with these.
type sampleFixture struct {
	Container string                   `json:"container"` // base64
	Functions map[string][4]int64      `json:"functions"` // exclusive cpu and off, then inclusive ones
	Callers   map[string][]fixtureEdge `json:"callers"`   // by function
	Callees   map[string][]fixtureEdge `json:"callees"`
	Tree      [][3]any                 `json:"tree"`  // depth, function, inclusive cpu and off; sorted by their sum
	Lines     map[string][4]int64      `json:"lines"` // of the file a.go
	// Slowest is that of package profile's document for the executions of scope 7, of which one was slow and
	// 99 were not.
	Slowest any `json:"slowest"`
}

type fixtureEdge struct {
	Func string   `json:"func"`
	Attr [2]int64 `json:"attr"`
}

// randomSamples returns samples of few functions, so that stacks have recursion of all
// kinds.
func randomSamples(seed uint64, n int) (all []samples.Sample, p *samples.Profile) {
	r := rand.New(rand.NewPCG(seed, 1))
	p = &samples.Profile{Preset: "cpu", Metrics: []samples.Metric{
		{Name: "cpu", Title: "CPU time", Unit: samples.Nanoseconds, Sampled: true}, {Name: "off", Title: "waits", Unit: samples.Nanoseconds},
		{Name: "wall", Title: "both", Unit: samples.Nanoseconds, Of: []int{0, 1}},
	}, ByScope: map[uint16]samples.Executions{7: {Slow: 1, Rest: 99, Limit: 1000}}, Notes: []string{"a note"}}
	var frames []*symbols.Frame
	for k := range 8 {
		frames = append(frames, &symbols.Frame{Func: fmt.Sprintf("main.f%d", k/2), File: []string{"/src/a.go", "/src/b.go"}[k/4], Line: 1 + k%3})
	}
	stacks := map[string]uint32{}
	for i := range n {
		s := samples.Sample{Time: int64(i) * 100, Metric: uint16(i % 2), Value: 1 + r.Int64N(1000), Labels: samples.Labels{Goid: 1 + r.Uint64N(3)}}
		if s.Metric == 1 {
			s.Dur = s.Value
		}
		key := ""
		for range 1 + r.IntN(6) {
			k := r.IntN(len(frames))
			s.Frames = append(s.Frames, frames[k])
			key += fmt.Sprint(k)
		}
		if stacks[key] == 0 {
			stacks[key] = uint32(len(stacks)) + 1
		}
		s.Stack[0] = stacks[key]
		if i%3 == 0 {
			s.Scopes = []samples.Scope{{Name: 7, Slow: i%9 == 0}, {Name: 8}}
		}
		all = append(all, s)
		values := make([]int64, 3)
		values[s.Metric] = s.Value
		p.Stacks = append(p.Stacks, samples.Stack{Frames: s.Frames, Values: values})
	}
	return all, p
}

func gather(all []samples.Sample, p *samples.Profile, most int) *Samples {
	g := newGatherer(most)
	for i := range all {
		g.add(&all[i])
	}
	return g.pack(p)
}

func makeSampleFixture(t *testing.T, seed uint64, n int) sampleFixture {
	t.Helper()
	all, p := randomSamples(seed, n)
	s := gather(all, p, 0)
	s.AddSource("/src/a.go", 1, []string{"func f0() {", "\twork()", "}"}, []int{1, 2})
	f := sampleFixture{
		Container: packedText(t, &Container{Samples: s}), Functions: map[string][4]int64{},
		Callers: map[string][]fixtureEdge{}, Callees: map[string][]fixtureEdge{}, Lines: map[string][4]int64{},
	}
	costs := callgraph.Sum(p, func(f *symbols.Frame) string { return f.Func })
	edges := func(list []callgraph.Edge) (to []fixtureEdge) {
		for _, e := range list {
			to = append(to, fixtureEdge{e.Func, [2]int64{e.Attr[0], e.Attr[1]}})
		}
		return to
	}
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		c := costs[name]
		f.Functions[name] = [4]int64{c.Excl[0], c.Excl[1], c.Incl[0], c.Incl[1]}
		x := callgraph.CallersOf(p, costs, name)
		f.Callers[name], f.Callees[name] = edges(x.Callers), edges(x.Callees)
	}
	for line, c := range callgraph.Sum(p, func(f *symbols.Frame) int {
		if f.File == "/src/a.go" {
			return f.Line
		}
		return 0
	}) {
		if line > 0 {
			f.Lines[fmt.Sprint(line)] = [4]int64{c.Excl[0], c.Excl[1], c.Incl[0], c.Incl[1]}
		}
	}
	var walk func(n *callgraph.Node, depth int)
	walk = func(n *callgraph.Node, depth int) {
		f.Tree = append(f.Tree, [3]any{depth, n.Func, [2]int64{n.Incl[0], n.Incl[1]}})
		for _, c := range n.Children {
			walk(c, depth+1)
		}
	}
	walk(callgraph.Tree(p, 2), 0)
	f.Slowest = slowest(t, all, p)
	return f
}

// slowest compares the slow execution of scope 7 with the others.
func slowest(t *testing.T, all []samples.Sample, p *samples.Profile) any {
	t.Helper()
	of := &samples.Profile{Metrics: p.Metrics, Preset: p.Preset, Executions: samples.Executions{Slow: 1, Rest: 99}}
	for _, s := range all {
		if len(s.Scopes) > 0 {
			values := make([]int64, len(p.Metrics))
			values[s.Metric] = s.Value
			of.Stacks = append(of.Stacks, samples.Stack{Frames: s.Frames, Values: values, Labels: samples.Labels{Slow: s.Scopes[0].Slow}})
		}
	}
	v, err := profile.NewView(of, nil, "", "", glob.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	var document struct{ Slowest any }
	if err := report.WriteJSON(&b, "functions", profile.Functions.Of(v).Document, 0); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	return document.Slowest
}

// TestSampleFixtures keeps the expectations of the page's tests in step with package
// callgraph.
func TestSampleFixtures(t *testing.T) {
	checkFixture(t, "samples.json", []sampleFixture{makeSampleFixture(t, 1, 3), makeSampleFixture(t, 2, 60)})
}

// TestManySamples: if there are too many samples, those near each other are merged, and the
// sums by stack, goroutine and scope are preserved. Long waits stay separate.
func TestManySamples(t *testing.T) {
	const n, most = 20_000, 3_000
	all, p := randomSamples(3, n)
	for i := range all {
		all[i].Frames, all[i].Stack = all[i%40].Frames, all[i%40].Stack
	}
	all[n/2].Metric, all[n/2].Value, all[n/2].Dur = 1, 1e9, 1e9
	type common struct {
		stack, in uint32
		goid      uint64
		metric    uint16
	}
	sums := func(most int) (map[common]int64, int, *gatherer) {
		g := newGatherer(most)
		for i := range all {
			g.add(&all[i])
		}
		of := map[common]int64{}
		for _, x := range gatheredOf(g) {
			of[common{x.stack, x.in, x.goid, x.metric}] += x.value
		}
		return of, g.list.n, g
	}
	want, whole, _ := sums(0)
	got, few, g := sums(most)
	if whole != n || few > most {
		t.Errorf("%d of %d samples stay, at most %d were asked for", few, whole, most)
	}
	if !maps.Equal(want, got) {
		t.Error("the sums differ")
	}
	if !slices.ContainsFunc(gatheredOf(g), func(x gathered) bool { return x.end-x.at == 1e9 && x.value == 1e9 }) {
		t.Error("the long wait is not alone")
	}
	if s := g.pack(p); s.Res == 0 || len(s.Notes) != 2 {
		t.Errorf("within %d ns samples are one; it says %q", s.Res, s.Notes)
	}
}

func gatheredOf(g *gatherer) []gathered {
	return slices.Concat(g.list.blocks...)[:g.list.n]
}

// TestSamplesWithoutLevels: metrics that can't be added up are not in the page, and later
// metrics keep their identity.
func TestSamplesWithoutLevels(t *testing.T) {
	p := &samples.Profile{Preset: "cpu", Metrics: []samples.Metric{
		{Name: "cpu"}, {Name: "inuse-bytes", Level: true}, {Name: "off"}, {Name: "wall", Of: []int{0, 2}},
	}}
	f := []*symbols.Frame{{Func: "main.f", File: "/src/a.go", Line: 1}}
	var all []samples.Sample
	for m := range 3 {
		all = append(all, samples.Sample{Time: int64(m), Metric: uint16(m), Value: 5, Frames: f})
	}
	g := newGatherer(0)
	for i := range all {
		g.add(&all[i])
	}
	s := g.pack(p)
	var names []string
	for _, m := range s.Metrics {
		names = append(names, m.Name)
	}
	var of []uint16
	for _, x := range gatheredOf(g) {
		of = append(of, x.metric)
	}
	if !slices.Equal(names, []string{"cpu", "off", "wall"}) || !slices.Equal(s.Metrics[2].Of, []int{0, 1}) || !slices.Equal(of, []uint16{0, 1}) {
		t.Errorf("%q, wall is of %d, the samples are of %d", names, s.Metrics[2].Of, of)
	}
}

// TestAddCall: calls of functions without samples are left out, and files are numbers.
func TestAddCall(t *testing.T) {
	all, p := randomSamples(1, 100)
	s := gather(all, p, 0)
	s.AddCall("main.f0", "main.f1", "/src/a.go", 7, "inlined")
	s.AddCall("main.f0", "main.other", "/src/none.go", 8, "not inlined")
	s.AddCall("main.none", "main.f1", "/src/a.go", 9, "inlined")
	want := []hotCall{{"main.f0", "main.f1", slices.Index(s.Files, "a.go"), 7, "inlined"}, {"main.f0", "main.other", 0, 8, "not inlined"}}
	if !slices.Equal(s.Calls, want) || want[0].File == 0 {
		t.Errorf("%+v, want %+v", s.Calls, want)
	}
}
