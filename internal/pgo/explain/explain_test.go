package explain

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestOf: every verdict, for a module with known calls. The executable has the calls that were
// not inlined, and none of the others.
func TestOf(t *testing.T) {
	dir, of := written(t)
	r, err := Of(t.Context(), Options{Dir: dir, Profile: filepath.Join(dir, "p.pgo")}, of)
	if err != nil {
		t.Fatal(err)
	}
	weights := map[Verdict]int64{}
	for _, want := range edges {
		weights[want.verdict] += want.weight
		if want.verdict == Cold {
			continue
		}
		edge := pgo.Edge{Caller: want.caller, Callee: want.callee, Offset: offset(t, want.caller, want.line)}
		i := slices.IndexFunc(r.Edges, func(e Edge) bool { return e.Edge == edge })
		if i < 0 {
			t.Errorf("%+v is not hot", edge)
			continue
		}
		if e := r.Edges[i]; e.Verdict != want.verdict || e.Text != want.text || e.Cost != want.cost || e.Weight != want.weight {
			t.Errorf("%s -> %s: %q, %q, cost %d, weight %d; want %q, %q, cost %d", e.Caller, e.Callee, e.Verdict, e.Text, e.Cost, e.Weight, want.verdict, want.text, want.cost)
		}
	}
	if len(r.Edges) != len(edges)-1 || r.Sums[len(r.Sums)-1] != (Sum{Cold, 1, 1, 1 / float64(r.Total)}) {
		t.Errorf("%d hot edges, the last sum %+v", len(r.Edges), r.Sums[len(r.Sums)-1])
	}
	for _, s := range r.Sums {
		if s.Weight != weights[s.Verdict] {
			t.Errorf("%q has %d, want %d", s.Verdict, s.Weight, weights[s.Verdict])
		}
		delete(weights, s.Verdict)
	}
	if len(weights) != 0 {
		t.Errorf("no sums of %v", weights)
	}
	executable(t, dir, r)
}

// executable compares verdicts with the calls in the code.
func executable(t *testing.T, dir string, r *Report) {
	path := filepath.Join(dir, "m.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "-pgo=p.pgo", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := symbols.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, e := range r.Edges {
		want, ok := map[Verdict]bool{Inlined: false, InlinedAnyway: false, DevirtualInlined: false, CannotInline: true, BigCaller: true}[e.Verdict]
		funcs := b.Find(e.Caller)
		if !ok || len(funcs) != 1 {
			continue // no direct call, or the caller is inlined everywhere
		}
		if e.Caller == e.Callee {
			want = true // by the copy
		}
		code, err := b.Disasm(funcs[0])
		if err != nil {
			t.Fatal(err)
		}
		calls := slices.ContainsFunc(code, func(i symbols.Inst) bool {
			return strings.HasPrefix(i.Text, "CALL "+e.Callee+"(SB)") && i.Line == e.Line
		})
		if calls != want {
			t.Errorf("%s -> %s, %q: a call in the code: %t, want %t", e.Caller, e.Callee, e.Verdict, calls, want)
		}
		checked++
	}
	// The copy of middle in outer calls what middle itself has inlined.
	if code, err := b.Disasm(b.Find("main.outer")[0]); err != nil || !slices.ContainsFunc(code, func(i symbols.Inst) bool { return strings.HasPrefix(i.Text, "CALL main.work(SB)") }) {
		t.Errorf("outer has no call of work: %v, %v", err, code)
	}
	if checked < 12 {
		t.Errorf("%d edges were compared with the executable", checked)
	}
}

// TestOfWhy: Why is called for the calls that the compiler does not have, and for no others.
func TestOfWhy(t *testing.T) {
	dir, of := written(t)
	o := Options{Dir: dir, Profile: filepath.Join(dir, "p.pgo")}
	var asked []string
	o.Why = func(e pgo.Edge) (Verdict, string, error) {
		asked = append(asked, e.Caller+" "+e.Callee)
		return NotMatched, "why", nil
	}
	r, err := Of(t.Context(), o, of)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"main.direct main.gone", "main.lost main.work"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	for _, e := range r.Edges {
		if why := slices.Contains(asked, e.Caller+" "+e.Callee); (e.Verdict == NotMatched) != why || (e.Text == "why") != why {
			t.Errorf("%s -> %s: %q, %q", e.Caller, e.Callee, e.Verdict, e.Text)
		}
	}
	failed := errors.New("x")
	o.Why = func(pgo.Edge) (Verdict, string, error) { return "", "", failed }
	if _, err := Of(t.Context(), o, of); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

// TestOfCommands: of two commands with functions of one name, the one with the profile's heaviest
// calls is used, not the first.
func TestOfCommands(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.24\n",
		"one/main.go": "package main\n\nfunc main() { println(work(3)) }\n\nfunc work(n int) int { return leaf(n) }\n\n//go:noinline\nfunc leaf(n int) int { return n }\n",
		"two/main.go": "package main\n\nfunc main() { run(3) }\n\nfunc work(n int) int { return leaf(n) }\n\nfunc leaf(n int) int { return n }\n\nfunc run(n int) {\n\tprintln(work(n))\n}\n",
	})
	p := pgo.New(pgo.Samples)
	for _, e := range []pgo.Edge{{Caller: "main.work", Callee: "main.leaf"}, {Caller: "main.run", Callee: "main.work", Offset: 1}} {
		if err := p.Add(pgo.Location{{Func: e.Callee, Start: 10, Line: 10}}, pgo.Location{{Func: e.Caller, Start: 10, Line: 10 + e.Offset}}, false, 10); err != nil {
			t.Fatal(err)
		}
	}
	of := writeProfile(t, dir, p)
	r, err := Of(t.Context(), Options{Dir: dir, Profile: filepath.Join(dir, "p.pgo"), Packages: []string{"./..."}}, of)
	if err != nil || len(r.Edges) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, e := range r.Edges {
		if e.Verdict != InlinedAnyway || e.File != filepath.Join(dir, "two", "main.go") {
			t.Errorf("%s -> %s: %q, %q, %s", e.Caller, e.Callee, e.Verdict, e.Text, e.File)
		}
	}
}

func TestOfWithoutAPackage(t *testing.T) {
	dir := t.TempDir()
	_, err := Of(t.Context(), Options{Dir: dir, Profile: filepath.Join(dir, "p.pgo")}, &pgo.Edges{Weight: map[pgo.Edge]int64{{Caller: "main.f", Callee: "main.g"}: 1}, Total: 1})
	if err == nil || !strings.Contains(err.Error(), "don't build in "+dir) || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("%v", err)
	}
}

func TestOfWhatDoesNotCompile(t *testing.T) {
	dir, of := written(t)
	filetest.Write(t, filepath.Join(dir, "dep.v2", "bad.go"), []byte("package dep\n\nvar x int = \"a\"\n"))
	_, err := Of(t.Context(), Options{Dir: dir, Profile: filepath.Join(dir, "p.pgo")}, of)
	if err == nil || !strings.Contains(err.Error(), "bad.go:3:13: cannot use \"a\"") || strings.Contains(err.Error(), "inline") {
		t.Errorf("%v", err)
	}
}

// TestOfOtherEdges: edges that are not the profile's are refused.
func TestOfOtherEdges(t *testing.T) {
	dir, of := written(t)
	of.Weight[pgo.Edge{Caller: "main.main", Callee: "main.x"}] = of.Total
	of.Total *= 2
	_, err := Of(t.Context(), Options{Dir: dir, Profile: filepath.Join(dir, "p.pgo")}, of)
	if err == nil || !strings.Contains(err.Error(), "the edges are another profile's") {
		t.Errorf("%v", err)
	}
}

func TestOfNothing(t *testing.T) {
	if r, err := Of(t.Context(), Options{Dir: t.TempDir()}, &pgo.Edges{}); err != nil || len(r.Edges) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir, of := written(t)
	if _, err := Of(ctx, Options{Dir: dir, Profile: "p.pgo"}, of); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestUnnamed: an edge to or from an unnamed function gets no decision of the compiler, and no
// unnamed function is called hotter.
func TestUnnamed(t *testing.T) {
	unnamed := &call{}

	b := &build{}
	for edge, want := range map[pgo.Edge]string{
		{Caller: "main.f", Offset: 1}: "the profile does not name the callee", {Callee: "main.f"}: "the profile does not name the caller",
	} {
		x := Edge{Edge: edge}
		if !b.judge(&x) || x.Verdict != Unknown || x.Text != want || x.Devirtualized != "" {
			t.Errorf("%+v", x)
		}
	}
	q := question{Edge: &Edge{Edge: pgo.Edge{Caller: "main.f", Callee: "main.g"}}}
	if q.indirect([]*call{unnamed}); q.Verdict != NotDevirtualized || !strings.Contains(q.Text, "does not name") {
		t.Errorf("%+v", q.Edge)
	}
}
