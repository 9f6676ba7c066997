package pprof

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

func made() *samples.Profile {
	leaf := &symbols.Frame{Func: "main.leaf", File: "/src/a.go", Line: 3, Start: 2, PC: 0x100, Inlined: true}
	work := &symbols.Frame{Func: "main.work", File: "/src/a.go", Line: 9, PC: 0x100}
	odd := &symbols.Frame{Func: "main.a;b\nc"}
	return &samples.Profile{
		Metrics: []samples.Metric{
			{Name: "cpu", Unit: samples.Nanoseconds}, {Name: "sleep", Unit: samples.Nanoseconds}, {Name: "lock", Unit: samples.Nanoseconds},
			{Name: "wall", Unit: samples.Nanoseconds, Of: []int{0, 1, 2}},
		},
		Preset: "cpu", Binary: "/bin/prog", From: 5, To: 1005,
		Stacks: []samples.Stack{
			{Frames: []*symbols.Frame{leaf, work}, Values: []int64{10, 0, 0, 0}, Labels: samples.Labels{Scope: "request", Track: "worker", Goid: 7}},
			{Frames: []*symbols.Frame{odd, leaf, work}, Values: []int64{0, 0, 20, 0}},
			{Frames: []*symbols.Frame{work}, Values: []int64{0, 0, 0, 0}},
		},
	}
}

// TestWrite: a profile reads back as it was written: frames, labels, and the values of
// metrics that are not sums and not empty.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, made(), Options{Start: time.Unix(1, 2)}); err != nil {
		t.Fatal(err)
	}
	q, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, s := range q.SampleType {
		types = append(types, s.Type+"/"+s.Unit)
	}
	if got := strings.Join(types, " "); got != "cpu/nanoseconds lock/nanoseconds" || q.DefaultSampleType != "cpu" || q.TimeNanos != 1e9+2 || q.DurationNanos != 1000 {
		t.Errorf("%s, %s, %d, %d", got, q.DefaultSampleType, q.TimeNanos, q.DurationNanos)
	}
	if l := q.Sample[0].Label; len(q.Sample) != 2 || l["scope"][0] != "request" || l["track"][0] != "worker" || l["goroutine"][0] != "7" {
		t.Errorf("%d samples, the first with %v", len(q.Sample), l)
	}
	if l := q.Sample[0].Location; len(l) != 1 || len(l[0].Line) != 2 || l[0].Address != 0x100 || l[0].Line[0].Function.StartLine != 2 {
		t.Errorf("%+v", l)
	}
	p, err := samples.OfPprof(context.Background(), &b, &samples.Selection{Selection: &analysis.Selection{}})
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Stacks[1]; len(s.Frames) != 2 || *s.Frames[0] != *made().Stacks[0].Frames[0] || s.Values[0] != 10 || p.Binary != "/bin/prog" {
		t.Errorf("%+v", s)
	}
}

// TestPresetSum: a sum that is the preset is a sample type too.
func TestPresetSum(t *testing.T) {
	p := made()
	p.Preset = "wall"
	var b bytes.Buffer
	if err := Write(&b, p, Options{}); err != nil {
		t.Fatal(err)
	}
	q, err := profile.ParseData(b.Bytes())
	if err != nil || len(q.SampleType) != 3 || q.SampleType[2].Type != "wall" || q.DefaultSampleType != "wall" || q.Sample[1].Value[2] != 20 {
		t.Errorf("%v, %+v", err, q)
	}
}

func TestFold(t *testing.T) {
	for metric, want := range map[int]string{
		0: "main.work;main.leaf 10\n",
		2: "main.work;main.leaf;main.a:b c 20\n",
		3: "main.work;main.leaf 10\nmain.work;main.leaf;main.a:b c 20\n",
	} {
		var b strings.Builder
		if err := Fold(&b, made(), metric); err != nil || b.String() != want {
			t.Errorf("%d: %v, %q, want %q", metric, err, b.String(), want)
		}
	}
}
