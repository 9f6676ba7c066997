package annotate

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// changed returns flags that build the program of built with some of its text replaced.
func changed(t *testing.T, pairs ...string) []string {
	t.Helper()
	source, err := filepath.Abs(filepath.Join(program, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	text := filetest.Read(t, source)
	dir := t.TempDir()
	other, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	said, err := json.Marshal(map[string]map[string]string{"Replace": {source: other}})
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{other: []byte(strings.NewReplacer(pairs...).Replace(string(text))), overlay: said} {
		filetest.Write(t, path, b)
	}
	return []string{"-overlay", overlay}
}

// TestInstructionsOfTwoBuilds: in another build, where all code is at other addresses, an unchanged
// function has the same instruction names and the same code, and a changed one has not. The costs
// of the instructions add up to the function's.
func TestInstructionsOfTwoBuilds(t *testing.T) {
	_, p := built(t)
	moved := changed(t, "//go:noinline\nfunc index", "//go:noinline\nfunc before(n int) int { println(n, n+1, n+2); return n }\n\n//go:noinline\nfunc index", "third(n) - 1", "third(n) - before(n)")
	path := build(t, append(moved, "-ldflags=-s -w")...)
	b, err := symbols.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := symbols.Open(p.Binary)
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.Binary, q.BuildID = path, b.BuildID
	q.Stacks = slices.Clone(p.Stacks)
	elsewhere := map[string]uint64{}
	for i, s := range p.Stacks {
		q.Stacks[i].Frames = nil
		for _, f := range s.Frames {
			g := *f
			in, _, _ := a.At(f.PC - 0x10000)
			to := b.Find(in.Name)[0]
			elsewhere[in.Name] = to.Entry - in.Entry
			g.PC += to.Entry - in.Entry
			_, _, g.Line = b.At(g.PC - 0x10000)
			q.Stacks[i].Frames = append(q.Stacks[i].Frames, &g)
		}
	}
	if elsewhere["main.escapes"] == 0 {
		t.Fatal("no code lies elsewhere in the other build")
	}
	all := func(string) bool { return true }
	x, err := InstructionFigures(nil, p, all)
	if err != nil {
		t.Fatal(err)
	}
	y, err := InstructionFigures(nil, &q, all)
	if err != nil {
		t.Fatal(err)
	}
	find := func(f *report.Figures, name string) (rows []report.Row) {
		for _, r := range f.Rows {
			if r.Name == name || strings.HasPrefix(r.Name, name+"+") {
				rows = append(rows, r)
			}
		}
		return rows
	}
	for name, same := range map[string]bool{"main.index": true, "main.escapes": true, "main.first": true, "main.second": false} {
		one, other := find(x, name), find(y, name)
		if len(one) < 2 || len(other) < 2 || one[0].Kind != "function" || one[1].Function != name || one[1].Code == "" {
			t.Errorf("%s: %+v and %+v", name, one, other)
			continue
		}
		sum := 0.0
		for _, r := range one[1:] {
			sum += r.Values[0]
		}
		if sum != one[0].Values[0] {
			t.Errorf("the instructions of %s have %v, and all of it has %v", name, sum, one[0].Values[0])
		}
		if got := one[1].Code == other[1].Code; got != same || same && one[1].Name != other[1].Name {
			t.Errorf("%s has the same code: %v; %q and %q", name, got, one[1].Name, other[1].Name)
		}
	}
	gone := *p
	gone.Binary = filepath.Join(t.TempDir(), "gone")
	if _, err := InstructionFigures(nil, &gone, all); err == nil || strings.Contains(err.Error(), "--binary") || !strings.Contains(err.Error(), "scopeview archive") {
		t.Errorf("without the executable: %v", err)
	}
	none := *p
	none.Stacks = []samples.Stack{{Frames: []*symbols.Frame{{Func: "main.index"}}, Values: []int64{1}}}
	if _, err := InstructionFigures(nil, &none, all); err == nil || !strings.Contains(err.Error(), "no addresses") {
		t.Errorf("without addresses: %v", err)
	}
}
