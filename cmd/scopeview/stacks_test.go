package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestStacksPprof: the profile has exactly the trace's calls.
func TestStacksPprof(t *testing.T) {
	scriptTrace(t, "stacks")
	if r := scopeview("stacks", "cache.scope", "--format", "pprof", "-o", "x.pb.gz"); r.code != exitOK || r.out != "" || !strings.Contains(r.err, "4 records were lost") {
		t.Fatalf("%v", r)
	}
	b := filetest.Read(t, "x.pb.gz")
	p, err := profile.Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.SampleType[0].Type + "/" + p.SampleType[0].Unit + " " + p.SampleType[1].Type; got != "calls/count weight" || p.DefaultSampleType != "calls" {
		t.Errorf("sample types %s, by default %s", got, p.DefaultSampleType)
	}
	var calls, weight int64
	for _, s := range p.Sample {
		calls += s.Value[0]
		weight += s.Value[1]
	}
	if calls != 1342 || weight != 9993+5002+1 || len(p.Sample) != 6 {
		t.Errorf("%d samples of %d calls and weight %d", len(p.Sample), calls, weight)
	}
	// get is inlined into Lookup: one location, two lines.
	if l := p.Sample[0].Location; len(l) != 3 || len(l[0].Line) != 2 || l[0].Line[0].Line != 12 || l[0].Line[1].Line != 30 ||
		l[0].Line[0].Function.StartLine != 10 || l[2].Line[0].Function.Name != "main.main" {
		t.Errorf("the first stack is %+v", l)
	}
	if len(p.Function) != 6 || len(p.Location) != 6 { // one of each for (other stacks)
		t.Errorf("%d functions, %d locations", len(p.Function), len(p.Location))
	}
}

// TestStacksGoToolPprof: go tool pprof prints the same numbers.
func TestStacksGoToolPprof(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	scriptTrace(t, "stacks")
	if r := scopeview("stacks", "cache.scope", "--format", "pprof", "-o", "x.pb.gz"); r.code != exitOK {
		t.Fatalf("%v", r)
	}
	for _, c := range []struct {
		args string
		want []string
	}{
		{"-top", []string{"Type: calls", "1342 total", "1335 99.48% 99.48%       1335 99.48%  example.com/store/cache.(*Cache).get", "(inline)"}},
		{"-top -tagfocus name=cache.miss", []string{"100  7.45%", "(other stacks)"}},
		{"-top -cum -sample_index=weight -tagfocus name=cache.hit", []string{"Type: weight", "10000 66.62%", "main.main"}},
	} {
		out, err := exec.Command(goTool, append(append([]string{"tool", "pprof"}, strings.Fields(c.args)...), "x.pb.gz")...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, w := range c.want {
			if !strings.Contains(string(out), w) {
				t.Errorf("pprof %s does not say %q:\n%s", c.args, w, out)
			}
		}
	}
}

func TestStacksTerminal(t *testing.T) {
	scriptTrace(t, "stacks")
	if r := scopeviewOn(context.Background(), true, "stacks", "cache.scope", "--format", "pprof"); r.code != exitUsage || !strings.Contains(r.err, "-o FILE") || r.out != "" {
		t.Errorf("%v", r)
	}
	for _, args := range []string{"stacks", "stacks --format folded", "stacks --json"} {
		r := scopeviewOn(context.Background(), true, append(strings.Fields(args), "cache.scope")...)
		if r.code != exitOK || r.out == "" || strings.Contains(r.out, "\x1b[31m ") || strings.Contains(r.out, "odd;name\x1b") || strings.Contains(r.out, "odd:name\x1b") {
			t.Errorf("%s: %q", args, r.out)
		}
	}
	if r := scopeview("__complete", "stacks", "--value", ""); !strings.Contains(r.out, "weight\n") {
		t.Errorf("%v", r)
	}
	if r := scopeview("stacks", "--help"); !strings.Contains(r.out, "Examples:") {
		t.Errorf("%v", r)
	}
}
