package explain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// loop is a body that costs 78: cheap enough for every caller. Two of them are not.
const loop = `	for i := 0; i < n; i++ {
		n += i * n
		if n%7 == 3 {
			n ^= n
		}
		if n%9 == 3 {
			n ^= n << 2
		}
		if n%11 == 3 {
			n ^= n << 3
		}
		n += n / (n + 1)
		n += n / (n + 2)
		n += n / (n + 4)
		n += n / (n + 5)
	}
`

// module has a call for every verdict.
var module = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.24\n",
	"dep.v2/dep.go": `package dep

type T struct{ N int }

func (t *T) Work(n int) int {
` + loop + loop + `	t.N += n
	return n
}

func Small(n int) int { return n + 1 }

func Map[E any](list []E, f func(E) int) (n int) {
	for _, x := range list {
		n += f(x)
	}
	for _, x := range list {
		n += f(x) * 2
	}
	for _, x := range list {
		n += f(x) * 3
	}
	return n
}
`,
	"far/far.go": "package far\n\nfunc Shape(n int) int { return n }\n",
	"asm.s":      "TEXT ·asm(SB),4,$0-16\n\tRET\n", // NOSPLIT; the result is whatever was there
	"asm.go":     "package main\n\nfunc asm(n int) int\n",
	"y.go": `package main

//go:noinline
//line gen.y:10
func parse(n int) int {
	n++
//line other.y:13
	return work(n)
}
`,
	"main.go": `package main

import dep "example.com/m/dep.v2"

type shape interface{ Area(n int) int }

type square struct{ n int }

func (s square) Area(n int) int {
` + loop + loop + `	return n
}

type circle struct{ n int }

//go:noinline
func (c circle) Area(n int) int { return n }

func saved(n int) int {
	if recover() != nil {
		return n
	}
	return n + 1
}

func huge(n int) int {
` + strings.Repeat(loop, 30) + `	return n
}

func large(n int) int {
	n = work(n)
` + strings.Repeat(loop, 80) + `	return n
}

func work(n int) int {
` + loop + loop + `	return n
}

func sum(n int) int {
	if n < 2 {
		return n
	}
	return sum(n-1) + work(n)
}

func direct(t *dep.T, n int) int {
	n += t.Work(n)
	n += dep.Small(n)
	n += saved(n)
	n += huge(n)
	n += asm(n)
	n += dep.Map([]int{n}, dep.Small)
	n += dep.Small(n)
	n += func(x int) int { return x * n }(n)
	defer work(n)
	return n
}

func indirect(s, r, q shape, f, g, h func(int) int) (n int) {
	n += s.Area(n)
	n += r.Area(n)
	n += f(n)
	n += g(n)
	n += h(n)
	n += q.Area(n)
	return n
}

func middle(n int) int {
	return work(n)
}

func outer(n int) int {
	return middle(n)
}

func seq(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

//go:noinline
func ranged(n int) (sum int) {
	for x := range seq(n) {
		sum++
		sum *= 3
		sum += work(x)
	}
	return sum
}

func twice(n int, f func(int) int) int {
	n++
	n *= 3
	return f(n)
}

//go:noinline
func passes(n int) int {
	return twice(n, func(x int) int { return x * n })
}

//go:noinline
func taken(n int) int {
` + loop + loop + `	return n
}

func other(n int) int {
` + loop + loop + `	return n
}

func main() {
	n := 3
	t := &dep.T{}
	n += direct(t, n) + large(n) + sum(n) + outer(n)
	n += indirect(square{n}, circle{n}, square{1}, other, func(x int) int { return x * n }, t.Work)
	n += taken(n) + ranged(n) + passes(n) + parse(n)
	println(n)
}
`,
}

// edges has the calls of the module with their weights, and the compiler's decisions.
var edges = []struct {
	caller, callee, line string // the line of the call begins with these words
	weight               int64
	verdict              Verdict
	text                 string
	cost                 int
}{
	{"main.direct", "example.com/m/dep%2ev2.(*T).Work", "n += t.Work", 2000, Inlined, "inlined because of the profile, cost 158", 158},
	{"main.direct", "example.com/m/dep%2ev2.Small", "n += dep.Small", 1900, InlinedAnyway, "inlined, without the profile too, cost 4", 4},
	{"main.direct", "main.saved", "n += saved", 1800, CannotInline, "not inlined: call to recover", 0},
	{"main.direct", "main.huge", "n += huge", 1700, CannotInline, "not inlined: cost 2282 exceeds 2000", 0},
	{"main.direct", "main.asm", "n += asm", 1600, CannotInline, "not inlined: no function body", 0},
	{"main.direct", "example.com/m/dep%2ev2.Map[...]", "n += dep.Map", 1500, Generic, "not inlined: the profile has [...] for the type arguments, and the compiler matches only whole names, cost 90 exceeds 80", 0},
	{"main.direct", "main.gone", "n += dep.Small", 1400, Gone, "the line calls other functions now", 0},
	{"main.direct", "main.work", "return n", 1350, GoOrDefer, "a go or defer statement, which calls it in a wrapper or later", 0},
	{"main.direct", "main.direct.func1", "n += func", 1340, InlinedAnyway, "inlined, without the profile too, cost 4", 4},
	{"main.large", "main.work", "n = work", 1300, BigCaller, "not inlined: the caller is so large that only functions up to cost 20 are inlined into it, and this has 154", 154},
	{"main.sum", "main.sum", "return sum", 1200, Inlined, "inlined because of the profile, cost 227; once, because that has the same call", 227},
	{"main.middle", "main.work", "return work", 1100, InlinedInPart, "inlined because of the profile, cost 154; not in the copy of main.middle in main.outer", 154},
	{"main.outer", "main.middle", "return middle", 1090, InlinedAnyway, "inlined, without the profile too, cost 158", 158},
	{"main.indirect", "main.square.Area", "n += s.Area", 1000, DevirtualInlined, "devirtualized to main.square.Area, which has 62% of this line, and inlined, cost 154", 154},
	{"main.indirect", "main.circle.Area", "n += s.Area", 600, NotDevirtualized, "not devirtualized: the call is to main.square.Area, which has 62% of this line", 0},
	{"main.indirect", "main.circle.Area", "n += r.Area", 900, NotDevirtualized, "not devirtualized: marked go:noinline", 0},
	{"main.indirect", "main.other", "n += f", 800, DevirtualInlined, "devirtualized to main.other, which has 100% of this line, and inlined, cost 154", 154},
	{"main.indirect", "main.main.func1", "n += g", 700, NotDevirtualized, "not devirtualized: the callee is a closure", 0},
	{"main.indirect", "example.com/m/dep%2ev2.(*T).Work", "n += h", 650, NotDevirtualized, "not devirtualized: the callee is a method", 0},
	{"main.indirect", "example.com/m/far.Shape.Area", "n += q.Area", 640, NotDevirtualized, "not devirtualized: the package doesn't know the callee", 0},
	{"main.direct", "runtime.growslice", "n += huge", 635, Generated, "a call generated by the compiler, or in assembly", 0},
	{"type:.hash.main.square", "aeshashbody", "", 632, Generated, "the compiler generates the caller", 0},
	{"main.main", "main.taken", "n += taken", 630, CannotInline, "not inlined: marked go:noinline", 0},
	{"main.lost", "main.work", "", 620, Gone, "its package has no such caller", 0},
	{"example.com/elsewhere.F", "main.work", "", 610, NotBuilt, "the caller's package is not part of the build", 0},
	{"main.ranged", "main.ranged.seq.func1", "for x", 608, InlinedAnyway, "inlined, without the profile too, cost 35", 35},
	{"main.ranged.seq.func1", "main.ranged-range1", "", 606, InlinedAnyway, "inlined, without the profile too, cost 185", 185},
	{"main.ranged-range1", "main.work", "", 604, InlinedInPart, "inlined because of the profile, cost 154; not in the copy of main.ranged-range1 in main.ranged.seq.func1", 154},
	{"main.passes", "main.twice", "return twice", 602, InlinedAnyway, "inlined, without the profile too, cost 27", 27},
	{"main.twice", "main.passes.func1", "return f", 600, InlinedInPart, "not devirtualized: the callee is a closure; inlined in the copy of main.twice in main.passes", 0},
	{"main.parse", "main.work", "", 598, Inlined, "inlined because of the profile, cost 154", 154},
	{"main.main", "main.outer", "n += direct", 1, Cold, "", 0},
}

// written writes the module and a profile of its edges, and returns the directory.
func written(t *testing.T) (dir string, of *pgo.Edges) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, module)
	p := pgo.New(pgo.Samples)
	for _, e := range edges {
		const start = 10 // of every function: only offsets count
		at := start + offset(t, e.caller, e.line)
		leaf := pgo.Location{{Func: e.callee, Start: start, Line: start + 1}}
		if err := p.Add(leaf, pgo.Location{{Func: e.caller, Start: start, Line: at}}, false, e.weight); err != nil {
			t.Fatal(err)
		}
	}
	return dir, writeProfile(t, dir, p)
}

// write writes a module.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		filetest.Write(t, path, []byte(text))
	}
}

// writeProfile writes a module's p.pgo.
func writeProfile(t *testing.T, dir string, p *pgo.Profile) *pgo.Edges {
	t.Helper()
	of, err := p.Edges()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "p.pgo"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.Write(f); err != nil {
		t.Fatal(err)
	}
	return of
}

// offset returns how many lines after the first line of a function of main.go the line that
// begins with begins is.
func offset(t *testing.T, function, begins string) int {
	t.Helper()
	if begins == "" {
		return 3
	}
	_, body, ok := strings.Cut(module["main.go"], fmt.Sprintf("\nfunc %s(", strings.TrimPrefix(function, "main.")))
	for i, line := range strings.Split(body, "\n") {
		if ok && strings.HasPrefix(strings.TrimSpace(line), begins) {
			return i
		}
	}
	t.Fatalf("no line of %s begins with %q", function, begins)
	return 0
}
