package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	pprofile "github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/report/compare"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/symbols"
)

// TestComparedColumns: each column of each view can be in a condition, and the help names it.
func TestComparedColumns(t *testing.T) {
	help := scopeview("compare", "--help").out
	callers := profile.CallersView("main.f")
	for _, v := range compared {
		if v.view == nil {
			v.view = &callers
		}
		columns := compare.Columns(v.view)
		if !strings.Contains(help, "  "+v.name+" ") || !strings.Contains(help, strings.Join(columns, " ")) {
			t.Errorf("the help lacks %s with %q", v.name, columns)
		}
		for _, c := range columns {
			for _, sign := range []string{"+", "-"} {
				if _, err := compare.ParseCondition("store.get."+c+sign+"10%", v.view); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestCompareInterrupted: an interrupted comparison prints no output.
func TestCompareInterrupted(t *testing.T) {
	scriptTrace(t, "compare")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := scopeviewOn(ctx, false, "compare", "old.scope", "new.scope"); r.code != exitFailed || !strings.Contains(r.err, "interrupted") || r.out != "" {
		t.Errorf("%v", r)
	}
}

// writeStack writes a profile of one second that has one stack, the leaf first, with a value in
// nanoseconds of the type kind.
func writeStack(t *testing.T, path, kind string, value int64, stack ...*pprofile.Location) {
	t.Helper()
	p := &pprofile.Profile{
		SampleType: []*pprofile.ValueType{{Type: kind, Unit: "nanoseconds"}}, Location: stack,
		Sample: []*pprofile.Sample{{Location: stack, Value: []int64{value}}}, DurationNanos: 1e9,
	}
	for _, at := range stack {
		for _, l := range at.Line {
			p.Function = append(p.Function, l.Function)
		}
		if at.Mapping != nil {
			p.Mapping = append(p.Mapping, at.Mapping)
		}
	}
	to, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := p.Write(to); err != nil {
		t.Fatal(err)
	}
}

// TestCompareProfiles: profiles of pprof's format are compared by function, line and object,
// with the exact difference; a profile of something else is refused.
func TestCompareProfiles(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, unit string, hot int64) {
		f := &pprofile.Function{ID: 1, Name: "main.hot", Filename: "/src/hot.go"}
		caller := &pprofile.Function{ID: 2, Name: "main.main", Filename: "/src/main.go"}
		writeStack(t, path, unit, hot,
			&pprofile.Location{ID: 1, Line: []pprofile.Line{{Function: f, Line: 7}}},
			&pprofile.Location{ID: 2, Line: []pprofile.Line{{Function: caller, Line: 9}}})
	}
	write("a.pprof", "cpu", 2e9)
	write("b.pprof", "cpu", 5e9)
	write("heap.pprof", "other", 1)
	for view, name := range map[string]string{"functions": "main.hot", "lines": "main.hot, hot.go:7", "objects": "the program", "callers": "main.main"} {
		args := []string{"compare", "--view", view, "a.pprof", "b.pprof"}
		if view == "callers" {
			args = append(args, "--function", "hot")
		}
		r := scopeview(append(args, "--json")...)
		var d struct {
			A    []struct{ Lost map[string]int64 }
			Rows []struct {
				Name    string
				Columns map[string]struct{ A, B, Difference *float64 }
			}
		}
		if err := json.Unmarshal([]byte(r.out), &d); err != nil || r.code != exitOK {
			t.Fatalf("%s: %v, %v", view, r, err)
		}
		found := false
		for _, x := range d.Rows {
			if c := x.Columns["cpu"]; x.Name == name {
				found = *c.A == 2e9 && *c.B == 5e9 && *c.Difference == 3e9 && x.Columns["off"].A == nil
			}
		}
		if !found || len(d.A) != 1 || len(d.A[0].Lost) != 0 {
			t.Errorf("%s: %s", view, r.out)
		}
		if r := scopeview(append(args, "--fail-on", strings.Replace(name, ", ", "*", 1)+".cpu+10%")...); r.code != exitFound {
			t.Errorf("%s: three seconds more are no reason to fail: %v", view, r)
		}
	}
	if r := scopeview("compare", "--view", "callers", "--function", "cold", "a.pprof", "b.pprof"); r.code != exitFailed || !strings.Contains(r.err, "no sample is in a function") {
		t.Errorf("a function that is in no sample: %v", r)
	}
	for _, args := range [][]string{{"--view", "callers"}, {"--function", "hot"}} {
		if r := scopeview(append([]string{"compare", "a.pprof", "b.pprof"}, args...)...); r.code != exitUsage || !strings.Contains(r.err, "need each other") {
			t.Errorf("%q: %v", args, r)
		}
	}
	if r := scopeview("compare", "a.pprof", "b.pprof"); r.code != exitUsage || !strings.Contains(r.err, "--view functions") {
		t.Errorf("scopes of profiles: %v", r)
	}
	if r := scopeview("compare", "--view", "lines", "a.pprof", "heap.pprof"); r.code != exitFailed || !strings.Contains(r.err, "neither CPU time nor waits") {
		t.Errorf("a profile of something else: %v", r)
	}
}

// TestCompareInstructions: profiles with addresses are compared by instruction, with the
// instruction's text; if the executable is missing, the error says that there are none.
func TestCompareInstructions(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := symbols.Open(self)
	if err != nil {
		t.Skipf("the test's executable can't be read: %v", err)
	}
	const name = "github.com/scopeview/scopeview/cmd/scopeview.TestCompareInstructions"
	in := b.Find(name)[0]
	t.Chdir(t.TempDir())
	write := func(path, binary string, hot int64) {
		_, file, line := b.At(in.Entry)
		f := &pprofile.Function{ID: 1, Name: name, Filename: file}
		m := &pprofile.Mapping{ID: 1, File: binary, Start: in.Entry &^ 4095, Limit: in.End + 4095}
		writeStack(t, path, "cpu", hot, &pprofile.Location{ID: 1, Mapping: m, Address: in.Entry, Line: []pprofile.Line{{Function: f, Line: int64(line)}}})
	}
	write("a.pprof", self, 2e9)
	write("b.pprof", self, 5e9)
	write("gone.pprof", "/gone", 5e9)
	r := scopeview("compare", "--view", "instructions", "a.pprof", "b.pprof")
	if !strings.Contains(r.out, "TestCompareInstructions+0x0 ") || !strings.Contains(r.out, "+3.00s") || r.code != exitOK {
		t.Errorf("%v", r)
	}
	if r := scopeview("compare", "--view", "instructions", "a.pprof", "gone.pprof"); r.code != exitFailed || !strings.Contains(r.err, "gone.pprof: there are no instructions without the executable") {
		t.Errorf("%v", r)
	}
}
