package callgraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// profileOf makes a profile from lines such as "main.f main.g main.main 5 7": the stack, the
// leaf first, and a value of each metric.
func profileOf(t testing.TB, lines ...string) *samples.Profile {
	t.Helper()
	p := &samples.Profile{Preset: "cpu", Metrics: []samples.Metric{
		{Name: "cpu", Unit: samples.Nanoseconds}, {Name: "off", Unit: samples.Nanoseconds}, {Name: "wall", Unit: samples.Nanoseconds, Of: []int{0, 1}},
	}}
	frames := map[string]*symbols.Frame{}
	for _, line := range lines {
		words := strings.Fields(line)
		n := len(words) - 2
		s := samples.Stack{Values: make([]int64, 3)}
		for i := range 2 {
			if _, err := fmt.Sscan(words[n+i], &s.Values[i]); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range words[:n] {
			if frames[w] == nil {
				frames[w] = &symbols.Frame{Func: w}
			}
			s.Frames = append(s.Frames, frames[w])
		}
		p.Stacks = append(p.Stacks, s)
	}
	return p
}

func byFunction(f *symbols.Frame) string { return f.Func }

func edges(list []Edge) (text []string) {
	for _, e := range list {
		text = append(text, fmt.Sprintf("%s %d %d", e.Func, e.Attr[0], e.Attr[1]))
	}
	return text
}

// TestCallers: known stacks, with recursion direct and mutual. A recursive function is a
// caller of itself, and not a callee.
func TestCallers(t *testing.T) {
	p := profileOf(t,
		"leaf f f main 1 0", // f calls itself
		"f main 2 0",
		"g f g main 0 4", // f and g call each other
		"other 8 16",
	)
	costs := Sum(p, byFunction)
	for _, c := range []struct {
		name             string
		excl, incl       [2]int64
		callers, callees []string
	}{
		{"f", [2]int64{2, 0}, [2]int64{3, 4}, []string{"f 1 0", "g 0 4", "main 2 0"}, []string{"g 0 4", "leaf 1 0"}},
		{"g", [2]int64{0, 4}, [2]int64{0, 4}, []string{"f 0 4"}, nil},
		{"main", [2]int64{0, 0}, [2]int64{3, 4}, []string{"<Total> 3 4"}, []string{"f 3 0", "g 0 4"}},
		{"<Total>", [2]int64{11, 20}, [2]int64{11, 20}, nil, []string{"main 3 4", "other 8 16"}},
	} {
		x := CallersOf(p, costs, c.name)
		if [2]int64(x.Cost.Excl[:2]) != c.excl || [2]int64(x.Cost.Incl[:2]) != c.incl {
			t.Errorf("%s: %v %v", c.name, x.Cost.Excl, x.Cost.Incl)
		}
		if got := edges(x.Callers); !slices.Equal(got, c.callers) {
			t.Errorf("%s: callers %q, want %q", c.name, got, c.callers)
		}
		if got := edges(x.Callees); !slices.Equal(got, c.callees) {
			t.Errorf("%s: callees %q, want %q", c.name, got, c.callees)
		}
	}
	if CallersOf(p, costs, "nobody") != nil {
		t.Error("nobody has callers")
	}
}

// TestIdentities: on random stacks the attributed metrics of the callers add up to the
// inclusive ones, so do those of the callees with the exclusive ones, all exclusive ones add
// up to <Total>, and the tree has the same sums.
func TestIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var lines []string
		for range 1 + r.IntN(30) {
			var words []string
			for range 1 + r.IntN(12) {
				words = append(words, string(rune('a'+r.IntN(5))))
			}
			lines = append(lines, strings.Join(words, " ")+fmt.Sprint(" ", r.IntN(100), " ", r.IntN(100)))
		}
		p := profileOf(t, lines...)
		costs, total := Sum(p, byFunction), p.Total()
		excl := make([]int64, 3)
		for name, c := range costs {
			add(excl, c.Excl)
			x := CallersOf(p, costs, name)
			in, out := make([]int64, 3), slices.Clone(c.Excl)
			for _, e := range x.Callers {
				add(in, e.Attr)
			}
			for _, e := range x.Callees {
				add(out, e.Attr)
				if e.Func == name {
					t.Errorf("%q is a callee of itself in %q", name, lines)
				}
			}
			if !slices.Equal(in, c.Incl) || !slices.Equal(out, c.Incl) {
				t.Fatalf("%s of %q: inclusive %v, callers %v, callees and exclusive %v", name, lines, c.Incl, in, out)
			}
		}
		if !slices.Equal(excl, total) {
			t.Fatalf("%q: exclusive %v, total %v", lines, excl, total)
		}
		tree := Tree(p, 0)
		checkTree(t, tree)
		if !slices.Equal(tree.Incl, total) {
			t.Fatalf("%q: the tree has %v, total %v", lines, tree.Incl, total)
		}
	}
}

// checkTree checks that a node's value is its own plus its children's, and that children are
// sorted, largest first.
func checkTree(t *testing.T, n *Node) {
	t.Helper()
	sum := slices.Clone(n.Excl)
	for i, c := range n.Children {
		add(sum, c.Incl)
		checkTree(t, c)
		if i > 0 && c.Incl[0] > n.Children[i-1].Incl[0] {
			t.Errorf("%s comes behind %s", c.Func, n.Children[i-1].Func)
		}
	}
	if !slices.Equal(sum, n.Incl) {
		t.Errorf("%s: %v, and its parts have %v", n.Func, n.Incl, sum)
	}
}

func TestParseColumns(t *testing.T) {
	p := profileOf(t, "f 1 2")
	for text, want := range map[string]string{
		"":                   "[{false 0 true} {true 0 true} {false 1 false} {true 1 false}]",
		"e.cpu:i.cpu:i.off%": "[{false 0 false} {true 0 false} {true 1 true}]",
		"ie.wall":            "[{true 2 false} {false 2 false}]",
		"cpu":                `"cpu" is no metric`,
		"e.":                 `no metric ""`,
		"x.cpu":              `"x.cpu" is no metric`,
		"e.lock":             `no metric "lock" here: there is cpu, off, wall`,
		"e.cpu:":             `"" is no metric`,
	} {
		list, err := ParseColumns(p, text)
		if got := fmt.Sprint(list); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}

// BenchmarkSum sums up as many different stacks as a large recording has.
func BenchmarkSum(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for range 20_000 {
		var words []string
		for range 25 {
			words = append(words, fmt.Sprint("f", r.IntN(3000)))
		}
		lines = append(lines, strings.Join(words, " ")+" 1 1")
	}
	p := profileOf(b, lines...)
	for b.Loop() {
		Sum(p, byFunction)
	}
}

// TestAtLeast: truncated stacks may lack every function that they do not contain, by metric,
// and no function on the path below <truncated>.
func TestAtLeast(t *testing.T) {
	frame := func(name string) *symbols.Frame { return &symbols.Frame{Func: name} }
	main, f, leaf, cut := frame("main"), frame("f"), frame("leaf"), frame(samples.TruncatedName)
	p := &samples.Profile{Metrics: []samples.Metric{{Name: "cpu"}, {Name: "lock"}}, Stacks: []samples.Stack{
		{Frames: []*symbols.Frame{leaf, f, main}, Values: []int64{5, 1}},
		{Frames: []*symbols.Frame{leaf, f, cut}, Values: []int64{3, 0}},
		{Frames: []*symbols.Frame{f, main}, Values: []int64{2, 0}},
	}}
	for name, want := range map[string]bool{"main": true, "f": false, "leaf": false, samples.TruncatedName: false} {
		c := Sum(p, func(f *symbols.Frame) string { return f.Func })[name]
		if got := c.AtLeast(p, 0); got != want || c.AtLeast(p, 1) {
			t.Errorf("%s: %v, want %v; of lock %v", name, got, want, c.AtLeast(p, 1))
		}
	}
	if TotalCost(p).AtLeast(p, 0) {
		t.Error("<Total> has all")
	}
	root := Tree(p, 0)
	for _, n := range root.Children {
		if got, want := n.Cost().AtLeast(p, 0), n.Func == "main"; got != want {
			t.Errorf("%s below the root: %v, want %v", n.Func, got, want)
		}
	}
	p.Stacks = p.Stacks[:1]
	if Sum(p, func(f *symbols.Frame) string { return f.Func })["main"].AtLeast(p, 0) {
		t.Error("nothing was cut off, and main has at least what it has")
	}
}
