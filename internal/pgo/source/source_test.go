package source

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// edgeText matches an edge with its weight in testdata.
var edgeText = regexp.MustCompile(`^(\S+):(-?\d+) -> (\S+) (\d+)$`)

// TestCases: the files of testdata have a profile, its original source (old/) and the current
// one (new/), and the expected result for each edge: why it is lost, and its new form after
// Salvage.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files in testdata, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range a.Files {
				name := filepath.Join(dir, filepath.FromSlash(f.Name))
				filetest.Write(t, name, f.Data)
			}
			p, order := profileOf(t, section(a, "profile"))
			got := said(t, dir, p, order)
			if *update {
				for i := range a.Files {
					if a.Files[i].Name == "want" {
						a.Files[i].Data = []byte(got)
					}
				}
				filetest.Write(t, file, txtar.Format(a))
			} else if want := section(a, "want"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func profileOf(t *testing.T, text string) (*pgo.Profile, []pgo.Edge) {
	t.Helper()
	p := pgo.New(pgo.Samples)
	var order []pgo.Edge
	for line := range strings.Lines(text) {
		m := edgeText.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("%q is no edge", line)
		}
		offset, _ := strconv.Atoi(m[2]) // the pattern has digits
		weight, _ := strconv.ParseInt(m[4], 10, 64)
		if err := p.Add(pgo.Location{{Func: m[3], Start: 1, Line: 2}}, pgo.Location{{Func: m[1], Start: 100, Line: 100 + offset}}, false, weight); err != nil {
			t.Fatal(err)
		}
		order = append(order, pgo.Edge{Caller: m[1], Callee: m[3], Offset: offset})
	}
	return p, order
}

func load(t *testing.T, dir string, p *pgo.Profile) *Source {
	t.Helper()
	s, err := Load(context.Background(), Config{Dir: dir, Patterns: []string{"./..."}, Names: names(p), Module: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// said returns a line for each edge.
func said(t *testing.T, dir string, p *pgo.Profile, order []pgo.Edge) string {
	t.Helper()
	edges, err := p.Edges()
	if err != nil {
		t.Fatal(err)
	}
	old, now := load(t, filepath.Join(dir, "old"), p), load(t, filepath.Join(dir, "new"), p)
	v := newSalvager(now, edges)
	v.matchFunctions()
	v.matchClosures()
	moves, dropped := v.moves()
	var b strings.Builder
	for _, e := range order {
		if why := old.Reason(e); !why.Found() {
			fmt.Fprintf(&b, "%s:%d -> %s: even in the old source: %s\n", e.Caller, e.Offset, e.Callee, why)
		}
		fmt.Fprintf(&b, "%s:%d -> %s: %s", e.Caller, e.Offset, e.Callee, now.Reason(e))
		if to, ok := moves[e]; ok {
			fmt.Fprintf(&b, "; now %s:%d -> %s, %s", to.Caller, to.Offset, to.Callee, now.Reason(to))
		}
		if dropped[e] {
			b.WriteString("; left out")
		}
		b.WriteByte('\n')
	}
	if same, gone := newSalvager(old, edges).moves(); len(same)+len(gone) > 0 {
		t.Errorf("of its own source the profile's edges %v are others, %v left out", same, gone)
	}
	for _, f := range now.Failures {
		fmt.Fprintf(&b, "%s does not load\n", f.Package)
	}
	want := map[pgo.Edge]int64{}
	for e, w := range edges.Weight {
		if dropped[e] {
			continue
		}
		if to, ok := moves[e]; ok {
			e = to
		}
		want[e] += w
	}
	r, err := now.Salvage(p)
	if errors.Is(err, ErrForeign) {
		return b.String() + "a profile of another program\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	after, err := r.Profile.Edges()
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(after.Weight, want) {
		t.Errorf("the new profile has the edges %v, not %v", after.Weight, want)
	}
	return b.String()
}

func TestLoadNothing(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/m\n"))
	if _, err := Load(context.Background(), Config{Dir: dir, Patterns: []string{"./..."}}); !errors.Is(err, ErrNothing) {
		t.Errorf("the error is %v", err)
	}
	if _, err := Load(context.Background(), Config{Dir: filepath.Join(dir, "not there"), Patterns: []string{"."}}); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

// TestLoadCgo: C types are unknown to go/types, which is not a failure of the package.
func TestLoadCgo(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"c.go":   "package m\n\n// struct s { int n; };\nimport \"C\"\n\ntype cint = C.int\n\nfunc n(s *C.struct_s) *cint { return &s.n }\n\ntype cs = C.struct_s\n",
		"g.go":   "package m\n\nfunc F(s *cs) { *n(s) = 1; G() }\n\nfunc G() {}\n",
	} {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	t.Setenv("CGO_ENABLED", "1")
	p, order := profileOf(t, "example.com/m.F:0 -> example.com/m.G 10")
	s := load(t, dir, p)
	if why := s.Reason(order[0]); len(s.Failures) > 0 || why != Direct {
		t.Errorf("it fails with %v; the call is %s", s.Failures, why)
	}
}

func TestRename(t *testing.T) {
	const old = "a.org/x.F:1 -> a.org/x/y.(*T).M 10\na.org/x.F.func1:1 -> a.org/xy.G[go.shape.int] 20\ngopkg.in/yaml%2ev2.F:1 -> a.org/x.FF 3"
	for _, c := range []struct {
		pairs  []Pair
		counts []int
		want   string
	}{
		{[]Pair{{"a.org/x.F", "a.org/x.H"}}, []int{2}, "a.org/x.H:1 -> a.org/x/y.(*T).M 10\na.org/x.H.func1:1 -> a.org/xy.G[go.shape.int] 20\ngopkg.in/yaml%2ev2.F:1 -> a.org/x.FF 3"},
		{[]Pair{{"a.org/x", "b.org/z.v2"}}, []int{4}, "b.org/z.v2.F:1 -> b.org/z.v2/y.(*T).M 10\nb.org/z.v2.F.func1:1 -> a.org/xy.G[go.shape.int] 20\ngopkg.in/yaml%2ev2.F:1 -> b.org/z.v2.FF 3"},
		{[]Pair{{"a.org/x/y.(*T)", "a.org/x/y.(*U)"}, {"a.org/xy.G", "a.org/xy.K"}}, []int{1, 1}, "a.org/x.F:1 -> a.org/x/y.(*U).M 10\na.org/x.F.func1:1 -> a.org/xy.K[go.shape.int] 20\ngopkg.in/yaml%2ev2.F:1 -> a.org/x.FF 3"},
		{[]Pair{{"gopkg.in/yaml.v2", "gopkg.in/yaml.v3"}}, []int{1}, "a.org/x.F:1 -> a.org/x/y.(*T).M 10\na.org/x.F.func1:1 -> a.org/xy.G[go.shape.int] 20\ngopkg.in/yaml%2ev3.F:1 -> a.org/x.FF 3"},
		{[]Pair{{"a.org/x.F", "a.org/x.H"}, {"a.org/nothing", "a.org/x"}}, nil, ""},
		{[]Pair{{"c.org/app", "c.org/core"}}, nil, ""},
		{[]Pair{{"", "a.org/x"}}, nil, ""},
	} {
		p, _ := profileOf(t, old)
		got, counts, err := Rename(p, c.pairs)
		if c.counts == nil {
			if !errors.Is(err, ErrNoMatch) {
				t.Errorf("%v: the error is %v", c.pairs, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want, _ := profileOf(t, c.want)
		a, _ := got.Edges()
		b, _ := want.Edges()
		if !maps.Equal(a.Weight, b.Weight) || !slices.Equal(counts, c.counts) {
			t.Errorf("%v: %v with %v, not %v with %v", c.pairs, a.Weight, counts, b.Weight, c.counts)
		}
	}
}

// TestRenameInside: a package's path does not match longer paths with the same beginning, and
// type arguments have paths too.
func TestRenameInside(t *testing.T) {
	pairs := []Pair{{"a.org/app", "b.org/core"}, {"a.org/y.T", "a.org/y.U"}, {"gopkg.in/z.v2", "gopkg.in/z.v3"}}
	for name, want := range map[string]string{
		"a.org/app.F":            "b.org/core.F",
		"a.org/app.F-range1":     "b.org/core.F-range1",
		"a.org/app.(*T).M-fm":    "b.org/core.(*T).M-fm",
		"a.org/app/sub.F":        "b.org/core/sub.F",
		"a.org/app-server.F":     "a.org/app-server.F",
		"a.org/app-range/x.F":    "a.org/app-range/x.F",
		"a.org/app.v2/sub.F":     "a.org/app.v2/sub.F",
		"a.org/y.T.M":            "a.org/y.U.M",
		"a.org/y.T-range1.func2": "a.org/y.U-range1.func2",
		"a.org/y.TT.M":           "a.org/y.TT.M",
		"g.G[go.shape.struct { R a.org/app.R }].func1":     "g.G[go.shape.struct { R b.org/core.R }].func1",
		"g.G[go.shape.[]a.org/app-server.R,int]":           "g.G[go.shape.[]a.org/app-server.R,int]",
		"g.G[go.shape.[]a.org/app.v2/sub.R]":               "g.G[go.shape.[]a.org/app.v2/sub.R]",
		"g.G[go.shape.map[a.org/y.T]*a.org/y.T]":           "g.G[go.shape.map[a.org/y.U]*a.org/y.U]",
		"g.G[go.shape.[]gopkg.in/z%2ev2.T]":                "g.G[go.shape.[]gopkg.in/z%2ev3.T]",
		"a.org/app.G[go.shape.struct { a.org/app.r int }]": "b.org/core.G[go.shape.struct { b.org/core.r int }]",
	} {
		counts := make([]int, len(pairs))
		got := renamed(name, pairs, counts)
		if sum := counts[0] + counts[1] + counts[2]; got != want || (sum == 1) != (name != want) {
			t.Errorf("%s is %s, counted %d times, not %s", name, got, sum, want)
		}
	}
}

// TestRewriteCuts: a function that is renamed in only one edge of a stack has both names.
func TestRewriteCuts(t *testing.T) {
	p := pgo.New(pgo.Samples)
	frame := func(name string, line int) symbols.Frame { return symbols.Frame{Func: name, Start: 1, Line: line} }
	// main.A calls main.B inlined, which calls main.C, which has main.D inlined.
	if err := p.Add(pgo.Location{frame("main.D", 9), frame("main.C", 5)}, pgo.Location{frame("main.B", 4), frame("main.A", 3)}, false, 7); err != nil {
		t.Fatal(err)
	}
	e := func(from string, offset int, to string) pgo.Edge {
		return pgo.Edge{Caller: from, Callee: to, Offset: offset}
	}
	q, err := rewrite(&Source{}, p, map[pgo.Edge]pgo.Edge{
		e("main.A", 2, "main.B"): e("main.A", 2, "main.B2"),
		e("main.C", 4, "main.D"): e("main.C2", 6, "main.D"),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := q.Edges()
	want := map[pgo.Edge]int64{e("main.A", 2, "main.B2"): 7, e("main.B", 3, "main.C"): 7, e("main.C2", 6, "main.D"): 7}
	if !maps.Equal(got.Weight, want) {
		t.Errorf("the edges are %v, not %v", got.Weight, want)
	}
}

// FuzzNames: for any function names in a profile, nothing panics, and found edges stay.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"m.F", "m.F.func1.2", "m.(*T[go.shape.int]).M-fm", "m.F-range1", "", ".", "]x[", "type:.eq.[2]m.T", "m.init.0", "m.F.G.func1"} {
		f.Add(name, "m.G", 3)
	}
	s := &Source{
		funcs: map[string]*fn{}, children: map[string][]*fn{},
		pkgs: map[string]*unit{"m": {path: "m", ours: true}},
	}
	for _, name := range []string{"m.F", "m.G", "m.F.func1"} {
		s.funcs[name] = &fn{name: name, pkg: s.pkgs["m"], body: true, start: 1, calls: []call{{offset: 1, callee: "m.G"}, {offset: 2, callee: "m.F"}}}
	}
	s.children["m.F"] = []*fn{s.funcs["m.F.func1"]}
	f.Fuzz(func(t *testing.T, caller, callee string, offset int) {
		p := pgo.New(pgo.Samples)
		for _, to := range []string{callee, "m.G"} {
			if err := p.Add(pgo.Location{{Func: to}}, pgo.Location{{Func: caller, Line: offset}}, false, 1); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.Salvage(p)
		if errors.Is(err, ErrForeign) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.After.Total(Reason.Found)+r.Dropped < r.Before.Total(Reason.Found) || r.After.Total(nil)+r.Dropped != r.Before.Total(nil) {
			t.Errorf("%v became %v", r.Before, r.After)
		}
	})
}

// TestLoadOfTests: if a directory has only tests, their imports are found; a package that
// nothing imports is not.
func TestLoadOfTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":              "module example.com/m\n\ngo 1.26\n",
		"lib/lib.go":          "package lib\n\nfunc F() { g() }\n\nfunc g() {}\n",
		"bench/bench_test.go": "package bench_test\n\nimport (\n\t\"example.com/m/lib\"\n\t\"testing\"\n)\n\nfunc BenchmarkF(b *testing.B) { lib.F() }\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		filetest.Write(t, path, []byte(text))
	}
	for callee, want := range map[string]Reason{"example.com/m/lib.g": Direct, "example.com/m/lib.other": CalleeGone} {
		e := pgo.Edge{Caller: "example.com/m/lib.F", Callee: callee}
		s, err := Load(context.Background(), Config{Dir: dir, Patterns: []string{"./bench"}, Names: []string{e.Caller, callee, "example.com/gone.F"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Reason(e); got != want {
			t.Errorf("%s: %v, want %v", callee, got, want)
		}
	}
}
