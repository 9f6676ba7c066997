package samples

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

func anything() *Selection { return &Selection{Selection: &analysis.Selection{}} }

// text formats the stacks of a profile, a line each: the leaf first, then the values.
func text(p *Profile) string {
	var lines []string
	for _, s := range p.Stacks {
		line := ""
		for _, f := range s.Frames {
			line += fmt.Sprintf("%s:%d ", f.Func, f.Line)
		}
		for i, v := range s.Values {
			if v != 0 {
				line += fmt.Sprintf("%s=%d ", p.Metrics[i].Name, v)
			}
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// TestPprof reads a profile with inlined functions, a location without a function, and a
// sample without a location.
func TestPprof(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "main.f", Filename: "/src/f.go"}
	g := &profile.Function{ID: 2, Name: "main.g", Filename: "/src/g.go"}
	m := &profile.Mapping{ID: 1, File: "/bin/prog", BuildID: "abc"}
	lib := &profile.Mapping{ID: 2, File: "/lib/libc.so"}
	place := &profile.Location{ID: 1, Address: 0x100, Mapping: m, Line: []profile.Line{{Function: f, Line: 3}, {Function: g, Line: 9}}}
	bare := &profile.Location{ID: 2, Address: 0x200, Mapping: lib}
	q := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{place}, Value: []int64{1, 10}},
			{Location: []*profile.Location{bare, place}, Value: []int64{2, 20}},
			{Value: []int64{4, 40}},
		},
		Mapping: []*profile.Mapping{m, lib}, Location: []*profile.Location{place, bare}, Function: []*profile.Function{f, g},
	}
	var b bytes.Buffer
	if err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	p, err := OfPprof(context.Background(), bytes.NewReader(whole), anything())
	if err != nil {
		t.Fatal(err)
	}
	want := "<Unknown>:0 samples=4 cpu=40\n<Unknown>:0 main.f:3 main.g:9 samples=2 cpu=20\nmain.f:3 main.g:9 samples=1 cpu=10"
	if got := text(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	in := p.Stacks[1].Frames
	if p.Preset != "cpu" || p.Binary != "/bin/prog" || p.BuildID != "abc" || !in[1].Inlined || in[2].Inlined || in[1].PC != 0x100 || in[0].Object != "libc.so" {
		t.Errorf("%+v, %+v", p, in)
	}
	if _, err := OfPprof(context.Background(), bytes.NewReader(whole[:len(whole)/2]), anything()); err == nil || !strings.Contains(err.Error(), "reading the profile") {
		t.Errorf("half a profile: %v", err)
	}
	sel := anything()
	sel.From = 1
	if _, err := OfPprof(context.Background(), bytes.NewReader(whole), sel); !errors.Is(err, errNotRecorded) {
		t.Errorf("a part of the time: %v", err)
	}
}

// TestPprofTypes: sample types of one name, or of none, are separate metrics, and the preset
// is the one that pprof shows first.
func TestPprofTypes(t *testing.T) {
	for _, c := range []struct {
		types, first string
		want, preset string
	}{
		{"a2 a a", "", "a2=1 a=2 a3=3", "a3"},
		{"a a a", "a", "a=1 a1=2 a2=3", "a"},
		{"x _", "", "x=1 samples=2", "samples"},
		{"x y", "z", "x=1 y=2", "y"},
		{"", "", "", ""},
	} {
		q := &profile.Profile{DefaultSampleType: c.first}
		s := &profile.Sample{}
		for i, name := range strings.Fields(c.types) {
			q.SampleType = append(q.SampleType, &profile.ValueType{Type: strings.Trim(name, "_"), Unit: "count"})
			s.Value = append(s.Value, int64(i+1))
			q.Sample = []*profile.Sample{s}
		}
		var b bytes.Buffer
		if err := q.Write(&b); err != nil {
			t.Fatal(err)
		}
		p, err := OfPprof(context.Background(), &b, anything())
		if c.types == "" {
			if err == nil || !strings.Contains(err.Error(), "no sample types") {
				t.Errorf("a profile without any: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimPrefix(text(p), "<Unknown>:0 "); got != c.want || p.Preset != c.preset {
			t.Errorf("%s: %s, first %s, want %s, first %s", c.types, got, p.Preset, c.want, c.preset)
		}
	}
}

// TestFoldInlined: metrics of inlined functions become their callers', the outermost frame
// stays, and a note names a function that also occurs without inlining.
func TestFoldInlined(t *testing.T) {
	in := &symbols.Frame{Func: "in", Inlined: true}
	out := &symbols.Frame{Func: "out"}
	p := &Profile{Metrics: []Metric{cpu}, Stacks: []Stack{
		{Frames: []*symbols.Frame{in, in, out}, Values: []int64{3}},
		{Frames: []*symbols.Frame{{Func: "in"}, out}, Values: []int64{4}},
		{Frames: []*symbols.Frame{in}, Values: []int64{5}},
	}}
	p.FoldInlined()
	if got, want := text(p), "out:0 cpu=3\nin:0 out:0 cpu=4\nin:0 cpu=5"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], "inlined in some places and called in others") {
		t.Errorf("%q", p.Notes)
	}
}

// TestGenericNames: instances of a generic function are one function.
func TestGenericNames(t *testing.T) {
	s := newSum()
	a, b := s.frameID(symbols.Frame{Func: "slices.Sort[go.shape.int]"}), s.frameID(symbols.Frame{Func: "slices.Sort[go.shape.string]"})
	if a != b || s.frame[a].Func != "slices.Sort[...]" {
		t.Errorf("%d %d, %q", a, b, s.frame[a].Func)
	}
}

// FuzzPprof: any input gives an error or a profile.
func FuzzPprof(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x0a\x04\x08\x01\x10\x02"))
	three := &profile.Profile{SampleType: []*profile.ValueType{{Type: "a2"}, {Type: "a"}, {Type: "a"}}, Sample: []*profile.Sample{{Value: []int64{1, 2, 3}}}}
	var b bytes.Buffer
	if err := three.WriteUncompressed(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := OfPprof(context.Background(), bytes.NewReader(b), anything())
		if err != nil {
			return
		}
		if p.Metric(p.Preset) < 0 {
			t.Errorf("there is no metric %q", p.Preset)
		}
		for _, s := range p.Stacks {
			if len(s.Frames) == 0 || len(s.Values) != len(p.Metrics) {
				t.Errorf("%+v", s)
			}
		}
	})
}

const counted = `header
state closed=1 tick=9000
chunk blocks
name 2 "hit"
calib ticks=1000 mono=1000 wall=1700000000000000000
frame 0 "cache.get" "/src/cache.go" line=12 inlined
frame 1 "main.serve" "/src/main.go" line=50
stack 1 0 1
count ticks=2000 2:1:10:100 2:0:2:3
stop ticks=9000
`

// TestCounts: the counts of scope.Stack are a metric; stacks beyond the bound are <Unknown>.
func TestCounts(t *testing.T) {
	p, err := OfTrace(context.Background(), tracetest.OpenText(t, counted), anything())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(p), "<Unknown>:0 calls=2 weight=3\ncache.get:12 main.serve:50 calls=10 weight=100"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p.Preset != "calls" || !p.Stacks[1].Frames[0].Inlined {
		t.Errorf("%+v", p)
	}
	none := "header\nstate closed=1 tick=9000\nchunk blocks\ncalib ticks=1000 mono=1000 wall=1700000000000000000\nstop ticks=9000\n"
	if _, err := OfTrace(context.Background(), tracetest.OpenText(t, none), anything()); !errors.Is(err, ErrNone) {
		t.Errorf("of nothing: %v", err)
	}
}

// TestOrigins: a stack continues with those of its creators, up to mostOrigins if goroutines
// endlessly create each other.
func TestOrigins(t *testing.T) {
	s := newSum()
	m := s.metric(cpu)
	id := func(name string) uint32 { return s.stack([]uint32{s.frameID(symbols.Frame{Func: name})}) }
	made := s.origin(id("made"), s.origin(id("first"), 0))
	s.add(stackKey{stack: id("leaf"), origin: made}, m, 5)
	p, err := s.profile()
	if err != nil {
		t.Fatal(err)
	}
	if got := text(p); got != "leaf:0 made:0 first:0 cpu=5" {
		t.Errorf("%q", got)
	}
	o := uint32(0)
	for range 10 * mostOrigins {
		o = s.origin(id("again"), o)
	}
	if n := len(s.framesOf(id("leaf"), o)); n > mostOrigins+1 {
		t.Errorf("%d frames", n)
	}
	if n := len(s.origins); n > 2*mostOrigins {
		t.Errorf("%d origins", n)
	}
}

// TestExecutions: the slowest share is marked, and of nested executions only the outer
// counts.
func TestExecutions(t *testing.T) {
	const trace = `header
state closed=1 tick=9000
chunk blocks
name 2 "f"
name 3 "g"
calib ticks=1000 mono=1000 wall=1700000000000000000
stop ticks=9000
chunk records
task "f" g=7 start=1100 stop=1200
task "f" g=7 start=1300 stop=2300
task "f" g=7 start=1400 stop=1500
task "g" g=8 start=1300 stop=4300
task "f" g=8 start=1500 stop=1700
`
	sel := anything()
	names, err := glob.Parse("f")
	if err != nil {
		t.Fatal(err)
	}
	sel.Scopes, sel.Slowest = &names, 0.3
	x, err := executionsOf(context.Background(), tracetest.OpenText(t, trace), sel)
	if err != nil || x.Slow != 1 || x.Rest != 2 || x.Limit != 1000 {
		t.Fatalf("%+v, %v", x, err)
	}
	var parts []string
	x.each(7, 150, 900, func(from, to int64, slow bool) { parts = append(parts, fmt.Sprint(from, to, slow)) })
	if want := []string{"150 200 false", "300 900 true"}; !slices.Equal(parts, want) {
		t.Errorf("%q, want %q", parts, want)
	}
	for at, want := range map[int64][2]bool{150: {true, false}, 250: {false, false}, 300: {true, true}, 1299: {true, true}, 1300: {false, false}} {
		if in, slow := x.at(7, at); [2]bool{in, slow} != want {
			t.Errorf("at %d: %v %v", at, in, slow)
		}
	}
}

// TestTruncatedPprof: if stacks are as deep as a limit and none is deeper, those that don't
// end where programs begin lack callers, and so do those that a file marks. A note has their
// share.
func TestTruncatedPprof(t *testing.T) {
	for _, c := range []struct {
		depth int
		root  string
		want  bool
	}{{64, "main.f", true}, {64, "runtime.main", false}, {63, "main.f", false}, {65, "main.f", false}, {128, "main.f", true}, {3, "<truncated>", true}} {
		q := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
		for i, name := range []string{"main.f", "main.g", "main.leaf", c.root} {
			q.Function = append(q.Function, &profile.Function{ID: uint64(i + 1), Name: name})
			q.Location = append(q.Location, &profile.Location{ID: uint64(i + 1), Address: uint64(i + 1), Line: []profile.Line{{Function: q.Function[i], Line: 1}}})
		}
		for i := range 2 {
			s := &profile.Sample{Value: []int64{10}, Location: []*profile.Location{q.Location[1+i]}}
			for len(s.Location) < c.depth-1 {
				s.Location = append(s.Location, q.Location[0])
			}
			s.Location = append(s.Location, q.Location[3])
			q.Sample = append(q.Sample, s)
		}
		q.Sample = append(q.Sample, &profile.Sample{Value: []int64{20}, Location: q.Location[:1]})
		var b bytes.Buffer
		if err := q.Write(&b); err != nil {
			t.Fatal(err)
		}
		p, err := OfPprof(t.Context(), &b, &Selection{Selection: &analysis.Selection{}})
		if err != nil {
			t.Fatal(err)
		}
		cut, noted := p.Truncated(), strings.Contains(strings.Join(p.Notes, "\n"), "50% of cpu is of stacks too deep to be kept whole")
		if got := cut != nil && cut[0] == 20; got != c.want || noted != c.want {
			t.Errorf("%d frames up to %s: cut off %v, %v, %q", c.depth, c.root, got, cut, p.Notes)
		}
	}
}
