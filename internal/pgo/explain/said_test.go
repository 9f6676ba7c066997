package explain

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
)

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{
		"main.f":                    {"main", "f"},
		"gopkg.in/yaml%2ev3.(*T).M": {"gopkg.in/yaml.v3", "(*T).M"},
		"a.b/c.F[go.shape.struct { x/y.T }].func1": {"a.b/c", "F[go.shape.struct { x/y.T }].func1"},
		"aeshashbody": {"", "aeshashbody"},
		"a%zz.F":      {"", "a%zz.F"},
	} {
		if path, local := split(name); path != want[0] || local != want[1] {
			t.Errorf("%s: %q %q", name, path, local)
		}
	}
	for name, want := range map[string]string{"F": "F", "F[int].M": "F[...].M", "F[G[int]](x[1])": "F[...](x[...])", "F[": "F[...]", "]é": "]é"} {
		if got := collapse(name); got != want {
			t.Errorf("collapse(%q) = %q, want %q", name, got, want)
		}
	}
	for call, want := range map[string]string{"f(1)": "f", "(*p.T).M(t, 1)": "(*p.T).M", "(func literal)(7)": "(func literal)", "p.F[go.shape.int](x)": "p.F[...]", "f": "f", "(": ""} {
		if got := callee(call); got != want {
			t.Errorf("callee(%q) = %q, want %q", call, got, want)
		}
	}
	if got := unqualified(`"a.b/c".T.M`); got != "T.M" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(called("a/b", "b", "(*T).M", false), " "); got != `(*b.T).M (*"a/b".T).M` {
		t.Errorf("%s", got)
	}
	for name, want := range map[string]bool{"f.func1": true, "(*T).M.func12.3": true, "f.function": false, "f": false, "f.func": false} {
		if isClosure(name) != want {
			t.Errorf("isClosure(%s) = %t", name, !want)
		}
	}
}

// TestLongLines: what follows a line that is longer than what is kept of one is read.
func TestLongLines(t *testing.T) {
	s := newSaid("/d", newWanted([]pgo.Edge{{Caller: "main.f", Callee: "main.g"}}))
	text := "# m\naddIndirectEdges: " + strings.Repeat("x", 3*longest) + "\n./a.go:3:6: can inline g with cost 5 as: " + strings.Repeat("x", longest) + "\n./a.go:4:6: cannot inline f: call to recover"
	if err := s.read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if g, f := s.units["m"].functions["g"], s.units["m"].functions["f"]; g == nil || g.cost != 5 || f == nil || f.why != "call to recover" {
		t.Errorf("%+v, %+v", g, f)
	}
}

// TestCopies: what is inlined without a profile too can be called in a copy that the profile
// makes, and one of two calls of a line can be inlined.
func TestCopies(t *testing.T) {
	const without = `# m
./a.go:3:6: can inline f with cost 90 as: x
./a.go:9:6: can inline g with cost 5 as: x
./a.go:4:3: PGO devirtualize considering call g(n)
{"Caller":"m.f","Direct":true}
./a.go:21:3: PGO devirtualize considering call f(n)
{"Caller":"m.h","Direct":true}
./a.go:22:3: PGO devirtualize considering call g(1)
{"Caller":"m.h","Direct":true}
./a.go:22:8: PGO devirtualize considering call g(2)
{"Caller":"m.h","Direct":true}
./a.go:20:6: cannot inline h: recursive
./a.go:4:3: inlining call to g
./a.go:22:8: inlining call to g
`
	of := []pgo.Edge{{Caller: "m.f", Callee: "m.g", Offset: 1}, {Caller: "m.h", Callee: "m.f", Offset: 1}, {Caller: "m.h", Callee: "m.g", Offset: 2}}
	w := newWanted(of)
	b := &build{wanted: w, names: map[string]string{"m": "m"}, with: newSaid("/d", w), without: newSaid("/d", w)}
	for s, text := range map[*said]string{b.with: without + "./a.go:21:3: inlining call to f\n", b.without: without} {
		if err := s.read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	edges := make([]Edge, len(of))
	for i := range of {
		edges[i].Edge = of[i]
		b.judge(&edges[i])
	}
	b.copies(edges)
	for i, want := range []Edge{
		{Verdict: InlinedInPart, Text: "inlined, without the profile too, cost 5; not in the copy of m.f in m.h"},
		{Verdict: Inlined, Text: "inlined because of the profile, cost 90"},
		{Verdict: InlinedInPart, Text: "not inlined: the compiler doesn't say why, cost 5; 1 of 2 calls of the line are inlined"},
	} {
		if e := edges[i]; e.Verdict != want.Verdict || e.Text != want.Text {
			t.Errorf("%s -> %s: %q, %q; want %q, %q", e.Caller, e.Callee, e.Verdict, e.Text, want.Verdict, want.Text)
		}
	}
}

// FuzzRead: whatever a compiler prints, reading it comes to an end.
func FuzzRead(f *testing.F) {
	f.Add("# m\n./a.go:3:6: PGO devirtualize considering call (*T).M(t)\n./a.go:3:6: edge main.f:1 -> main.g (weight 3) (missing IR): hottest so far\n{\"Pos\":\"/a.go:3:6\",\"Caller\":\"main.f\",\"Weight\":3,\"Hottest\":\"main.g\"}\n")
	f.Add("# m\nhot-callsite-thres-from-CDF=1e9\n./a.go:3:6: inlining call to g\n./a.go:3:6: function f considered 'big'; x\n./a.go:1:1: cannot inline g into f: repeated recursive cycle\n")
	f.Add("# \ncallee  is a , skipping\n./a.go:3:6: PGO devirtualize considering call [[(\ncallee x is a , skipping\n{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		b := &build{names: map[string]string{"m": "main"}, mains: []string{"m"}, flagged: []string{"m"}, wanted: newWanted([]pgo.Edge{{Caller: "main.f", Callee: "main.g"}})}
		b.with, b.without = newSaid("/", b.wanted), newSaid("/", b.wanted)
		if err := b.with.read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		for _, e := range []pgo.Edge{{Caller: "main.f", Callee: "main.g"}, {Caller: "main.f[...]", Callee: "g"}, {Caller: ".", Callee: "."}, {Caller: "main.f", Callee: "runtime."}} {
			x := Edge{Edge: e}
			b.judge(&x)
			if x.Verdict == "" || x.Text == "" {
				t.Errorf("no verdict of %+v", e)
			}
		}
	})
}
