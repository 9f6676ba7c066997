package others

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// place is a position in a file of a package.
type place struct {
	file      string // by import path
	line, col int
}

func (p place) before(q place) bool { return p.line < q.line || p.line == q.line && p.col < q.col }

// block is a block of statements in a coverage profile.
type block struct {
	place
	count int64
}

var profileLine = regexp.MustCompile(`(?m)^(.+):(\d+)\.(\d+),\d+\.\d+ \d+ (\d+)$`)

// coverage reads a profile's blocks, by file.
func coverage(t *testing.T, path string) map[string][]block {
	t.Helper()
	b := filetest.Read(t, path)
	blocks := map[string][]block{}
	for _, m := range profileLine.FindAllStringSubmatch(string(b), -1) {
		var n [3]int64
		for i := range n {
			v, err := strconv.ParseInt(m[i+2], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n[i] = v
		}
		blocks[m[1]] = append(blocks[m[1]], block{place{m[1], int(n[0]), int(n[1])}, n[2]})
	}
	return blocks
}

// known is the number of calls of a function, by its first block's counter.
type known struct {
	calls int64
	why   string // reason why it is not recorded
}

// countersOf returns the counts of a package's functions by the names of their scopes.
func (c *checkout) countersOf(pkg, profile string) map[string]known {
	c.t.Helper()
	var p struct {
		Dir, ImportPath, Name string
		GoFiles, TestGoFiles  []string
	}
	if err := json.Unmarshal([]byte(c.must("go", "list", "-json", pkg).out), &p); err != nil {
		c.t.Fatal(err)
	}
	in := instrument.Input{ImportPath: p.ImportPath, Name: p.Name, Hooks: "example.com/hooks", Args: true, Files: map[string][]byte{}, With: map[string][]byte{}}
	read := func(to map[string][]byte, names []string) {
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				c.t.Fatal(err)
			}
			to[name] = b
		}
	}
	read(in.Files, p.GoFiles)
	read(in.With, p.TestGoFiles)
	out, err := instrument.Package(in)
	if err != nil {
		c.t.Fatal(err)
	}
	blocks, funcs := coverage(c.t, profile), map[string]known{}
	places := map[string][]block{}
	for name, text := range in.Files {
		places[name] = entries(c.t, name, text, blocks[path.Join(p.ImportPath, name)])
	}
	for _, f := range out.Funcs {
		if len(places[f.File]) == 0 {
			c.t.Fatalf("%s: there are fewer functions than are edited", f.File)
		}
		e := places[f.File][0]
		places[f.File] = places[f.File][1:]
		k := funcs[f.Name]
		k.calls, k.why = k.calls+e.count, f.Why
		funcs[f.Name] = k
	}
	return funcs
}

// entries returns the first block of each function of a file, in source order. A function
// without one has no statements, and is not counted.
func entries(t *testing.T, name string, text []byte, blocks []block) []block {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var list []block
	ast.Inspect(f, func(n ast.Node) bool {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.FuncDecl:
			body = n.Body
		case *ast.FuncLit:
			body = n.Body
		default:
			return true
		}
		first := block{count: -1}
		if body != nil {
			from, to := fset.PositionFor(body.Lbrace, false), fset.PositionFor(body.Rbrace, false)
			begin, end := place{"", from.Line, from.Column}, place{"", to.Line, to.Column}
			for _, b := range blocks {
				if !b.before(begin) && b.before(end) && (first.count < 0 || b.before(first.place)) {
					first = b
				}
			}
		}
		first.count = max(first.count, 0)
		list = append(list, first)
		return true
	})
	return list
}

// callsOf returns the number of calls of functions in a trace, both recorded and only
// counted ones. It also returns the number of the latter, and losses.
func callsOf(t *testing.T, path string) (calls map[string]int64, counted int64, lost string) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	lost = analysis.LossLine(tr)
	calls = map[string]int64{}
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind == format.KindTask {
			calls[tr.Name(e.Name)]++
		}
	}
	for _, c := range tr.Calls() {
		counted += c.Calls - c.Recorded
		calls[tr.Name(c.Name)] += c.Calls - c.Recorded
	}
	return calls, counted, lost
}

// compareCounts compares a trace with the counters of the tested package. Nothing of the
// program may continue while its tests end, or the counts are of two moments: then each may
// differ by the part slack.
func (c *checkout) compareCounts(pkg, profile, trace string, slack float64) {
	c.t.Helper()
	want := c.countersOf(pkg, profile)
	got, counted, lost := callsOf(c.t, trace)
	if lost != "" {
		c.t.Errorf("%s: %s", trace, lost)
	}
	compared, calls := 0, int64(0)
	for name, k := range want {
		if k.why != "" {
			if got[name] != 0 {
				c.t.Errorf("%s %s: %d calls are recorded of what is left alone: %s", pkg, name, got[name], k.why)
			}
			continue
		}
		if k.calls > 0 {
			compared++
		}
		calls += k.calls
		if off := got[name] - k.calls; float64(max(off, -off)) > slack*float64(k.calls) {
			c.t.Errorf("%s %s: %d calls in the trace, %d by its coverage counter", pkg, name, got[name], k.calls)
		}
	}
	c.t.Logf("%s: %d functions, %d of them called, %d times: %d of these only counted", pkg, len(want), compared, calls, counted)
	if compared < 5 || calls == 0 {
		c.t.Errorf("%s: only %d functions were called and recorded", pkg, compared)
	}
	if !strings.Contains(c.must(c.tool, "info", trace).out, "closed by Stop") {
		c.t.Errorf("%s was not closed", trace)
	}
}
