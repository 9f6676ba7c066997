// Package scopeview_test checks the conventions of the whole module: the permitted imports,
// the calls forbidden to the recorder, and the cost of importing it.
package scopeview_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/scopeview/scopeview"

// source is a Go file other than a test, parsed for every system and tag.
type source struct {
	path string // relative to the root, with slashes
	pkg  string // its directory; "." for the root
	file *ast.File
}

var fset = token.NewFileSet()

// files returns the module's files with that suffix, with slashes. Nested modules and test
// data are excluded.
func files(t *testing.T, ending string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." {
			_, modErr := os.Stat(filepath.Join(p, "go.mod"))
			if modErr == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
		}
		if !d.IsDir() && strings.HasSuffix(p, ending) {
			all = append(all, filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("no files end in %s", ending)
	}
	return all
}

// sources parses the module's Go files without the tests.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, p := range files(t, ".go") {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, source{path: p, pkg: path.Dir(p), file: f})
	}
	return all
}

func imports(s source) []string {
	var paths []string
	for _, i := range s.file.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// mayImport has the packages of the module that each package may import. An entry that ends
// in /* matches everything below it. The writer's side (first half) and the reader's side
// (second) meet in internal/format only.
var mayImport = map[string][]string{
	"scope":                 {"internal/record", "internal/format", "internal/sys"},
	"internal/record":       {"internal/newfile", "internal/pool", "flusher", "sweeper", "internal/heartbeat", "internal/snapshot", "internal/hot", "internal/glob", "internal/collect", "internal/testpoint", "internal/format", "internal/sys"},
	"scope/auto":            {"internal/fromenv"},
	"internal/advice/row":   {}, // of both sides
	"internal/advice/count": {"internal/newfile", "internal/advice/custom", "internal/advice/row", "internal/sys"},
	"scope/hooks":           {"internal/advice/count", "internal/collect", "internal/fromenv", "internal/requests", "scope", "scope/gotrace", "internal/record", "internal/sys"},
	"internal/fromenv":      {"scope"},
	"scope/gotrace":         {"scope", "internal/record", "internal/collect", "internal/perf", "internal/sys", "internal/format"},
	"internal/collect":      {"internal/format"},
	"internal/perf":         {"internal/unwind", "internal/collect", "internal/format", "internal/sys"},
	"internal/unwind":       {}, // of both sides, which use the same rules for callers
	"internal/requests":     {},
	"scope/scope*":          {"internal/newfile", "scope", "scope/gotrace", "internal/record", "internal/requests", "internal/snapshot", "internal/hot", "internal/chunks", "internal/format"}, // connections to other packages
	"flusher":               {"internal/pool", "internal/testpoint", "internal/sys"},
	"sweeper":               {"internal/format", "internal/sys"},
	"mmpool":                {"flusher", "internal/pool", "internal/format"},
	"internal/pool":         {"internal/newfile", "internal/testpoint", "internal/format", "internal/sys"},
	"internal/heartbeat":    {"internal/format", "internal/sys"},
	"internal/sys":          {},
	"internal/snapshot":     {"internal/newfile", "internal/testpoint", "internal/chunks", "internal/format"}, // of both sides: it reads and writes
	"internal/testpoint":    {},
	"internal/hot":          {"internal/newfile", "internal/format"}, // of both sides: it reads, and recovers leftovers
	"internal/chunks":       {"internal/format"},
	"internal/format":       {},
	"internal/glob":         {},
	"internal/newfile":      {}, // of both sides: nothing else opens a file for writing

	"internal/advice":           {"internal/newfile", "internal/advice/row", "internal/sys"},
	"internal/inorder":          {},
	"internal/release":          {},
	"internal/pack":             {"internal/hot", "internal/chunks", "internal/inorder", "internal/format"},
	"internal/trace":            {"internal/pack", "internal/hot", "internal/chunks", "internal/inorder", "internal/glob", "internal/format"},
	"internal/trace/text":       {"internal/trace", "internal/chunks", "internal/inorder", "internal/format"},
	"internal/testpoint/*":      {}, // for tests only
	"internal/armed":            {}, // for tests only: the state set up by a recording
	"internal/args":             {"internal/trace", "internal/format"},
	"internal/gowire":           {},
	"internal/gotrace":          {"internal/gowire", "internal/trace", "internal/format"},
	"internal/goscopes":         {"internal/gotrace", "internal/gowire", "internal/format"},
	"internal/deltas":           {},
	"internal/states":           {"internal/deltas", "internal/gotrace", "internal/trace", "internal/format"},
	"internal/analysis":         {"internal/args", "internal/states", "internal/gotrace", "internal/trace", "internal/glob", "internal/format"},
	"internal/doctor":           {"internal/analysis", "internal/args", "internal/states", "internal/gotrace", "internal/trace", "internal/glob", "internal/format"},
	"internal/samples":          {"internal/symbols", "internal/analysis", "internal/states", "internal/gotrace", "internal/trace", "internal/glob", "internal/format"},
	"internal/callgraph":        {"internal/samples"},
	"internal/symbols":          {"internal/unwind"},
	"internal/pgo":              {"internal/samples", "internal/symbols"},
	"internal/pgo/*":            {"internal/pgo", "internal/symbols"},
	"internal/runs":             {},
	"internal/autofdo":          {"internal/pgo", "internal/perfdata"},
	"internal/perfdata":         {"internal/pgo", "internal/symbols"},
	"internal/outside":          {"internal/newfile", "internal/unwind", "internal/symbols", "internal/perf", "internal/format", "internal/sys"},
	"internal/report":           {"internal/analysis", "internal/trace", "internal/format"},
	"internal/report/*":         {"internal/report", "internal/pgo", "internal/pgo/*", "internal/autofdo", "internal/runs", "internal/report/membench", "internal/report/profile", "internal/export/pprof", "internal/symbols", "internal/doctor", "internal/callgraph", "internal/samples", "internal/glob", "internal/analysis", "internal/states", "internal/gotrace", "internal/trace", "internal/format"},
	"internal/objects":          {"internal/symbols", "internal/trace", "internal/format"},
	"internal/timeline":         {"internal/deltas", "internal/samples", "internal/doctor", "internal/states", "internal/gotrace", "internal/analysis", "internal/args", "internal/trace", "internal/format"},
	"export/html":               {"internal/page", "internal/objects", "internal/trace", "internal/timeline"},
	"export/html/assets":        {},
	"internal/page":             {"internal/advice", "internal/report/annotate", "export/html/assets", "internal/doctor", "internal/timeline", "internal/samples", "internal/states", "internal/analysis", "internal/trace", "internal/glob", "internal/format"},
	"internal/export/*":         {"internal/export/rows", "internal/samples", "internal/states", "internal/gotrace", "internal/analysis", "internal/args", "internal/trace", "internal/glob", "internal/format"},
	"internal/live":             {"internal/advice", "internal/merge", "internal/page", "internal/objects", "internal/doctor", "internal/states", "internal/gotrace", "internal/timeline", "internal/analysis", "internal/args", "internal/trace", "internal/hot", "internal/glob", "internal/format"},
	"internal/mcpserver":        {"internal/report", "internal/report/*", "internal/doctor", "internal/objects", "internal/samples", "internal/symbols", "internal/states", "internal/analysis", "internal/args", "internal/trace", "internal/pack", "internal/glob", "internal/format"},
	"internal/merge":            {"internal/newfile", "internal/objects", "internal/states", "internal/gotrace", "internal/trace", "internal/format"},
	"internal/anonymize":        {"internal/chunks", "internal/inorder", "internal/format"},
	"internal/scopevet":         {},
	"internal/build":            {"internal/newfile", ".", "internal/build/instrument", "internal/build/std", "internal/pgo"},
	"internal/build/instrument": {"internal/format"},
	"internal/build/others":     {}, // tests only
	"internal/build/std":        {"internal/newfile", "internal/advice/row", "internal/args", "internal/trace", "internal/format"},
	"internal/release/prepare":  {"internal/newfile", "internal/release/publish"},
	"internal/release/publish":  {},
	".":                         {},
	"cmd/*":                     {"internal/newfile", "internal/release", "internal/advice", "internal/advice/*", "internal/build", "internal/build/std", "internal/objects", "internal/report", "internal/report/*", "internal/export/*", "internal/page", "internal/live", "internal/mcpserver", "internal/doctor", "internal/outside", "internal/perf", "internal/pgo", "internal/pgo/*", "internal/autofdo", "internal/perfdata", "internal/samples", "internal/symbols", "internal/states", "internal/gotrace", "internal/goscopes", "internal/gowire", "internal/scopevet", "internal/timeline", "internal/analysis", "internal/args", "internal/trace", "internal/trace/text", "internal/anonymize", "internal/merge", "internal/pack", "internal/snapshot", "internal/hot", "internal/glob", "internal/format"},

	"examples/*":         {"scope", "scope/containers", "scope/gotrace", "scope/scope*"},
	"internal/testing/*": {"internal/advice/row", "internal/args", "scope", "internal/testing/*", "internal/trace", "internal/trace/text", "internal/hot", "internal/format", "internal/sys"}, // for tests only

	"scope/containers":       {"internal/advice/custom"},
	"internal/advice/custom": {},
	"internal/advice/verify": {"internal/newfile", "internal/advice", "internal/runs"},
	"internal/advice/check":  {}, // tests only
}

func covers(pattern, pkg string) bool {
	if dir, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(pkg, dir)
	}
	return pattern == pkg
}

func TestDependenciesRunOneWay(t *testing.T) {
	for _, s := range sources(t) {
		var allowed []string
		known := false
		for pattern, list := range mayImport {
			if covers(pattern, s.pkg) {
				allowed, known = list, true
			}
		}
		if !known {
			t.Errorf("%s: package %s has no line in the table of who may import whom", s.path, s.pkg)
			continue
		}
		for _, i := range imports(s) {
			i, ours := strings.CutPrefix(i, module+"/")
			if ours && !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, i) }) {
				t.Errorf("%s imports %s, which %s may not", s.path, i, s.pkg)
			}
		}
	}
}

// recorder returns the packages that run inside user programs: those that they import, and
// their imports, except for export/html, which needs a reader.
func recorder(all []source) map[string]bool {
	in := map[string]bool{"scope": true, "scope/auto": true, "scope/containers": true, "scope/hooks": true, "scope/gotrace": true, "scope/scopehttp": true, "scope/scopesql": true, "scope/scopepprof": true, "mmpool": true, "flusher": true, "sweeper": true}
	for grown := true; grown; {
		grown = false
		for _, s := range all {
			for _, i := range imports(s) {
				if i, ours := strings.CutPrefix(i, module+"/"); ours && in[s.pkg] && !in[i] {
					in[i], grown = true, true
				}
			}
		}
	}
	return in
}

func TestRecorderImportsNothingHeavy(t *testing.T) {
	web := []string{"net/http", "html", "encoding/json"} // the purpose of scopehttp
	heavy := []string{"net/http", "html", "html/template", "text/template", "encoding/json", "os/exec", "os/signal", "log", "log/slog"}
	all := sources(t)
	inside := recorder(all)
	for _, s := range all {
		for _, i := range imports(s) {
			if s.pkg == "scope/scopehttp" && slices.Contains(web, i) {
				continue
			}
			if inside[s.pkg] && slices.Contains(heavy, i) {
				t.Errorf("%s imports %s; the recorder stays light", s.path, i)
			}
			if i == "github.com/prometheus/procfs" && s.pkg != "internal/heartbeat" {
				t.Errorf("%s imports procfs, which only internal/heartbeat may", s.path)
			}
			if (i == "unsafe" || i == "C") && s.pkg != "internal/sys" {
				t.Errorf("%s imports %s, which only internal/sys may", s.path, i)
			}
			if i == "os" && s.pkg == "internal/format" {
				t.Errorf("%s imports os; the format is a leaf", s.path)
			}
		}
	}
}

func TestAssemblyIsInOnePlace(t *testing.T) {
	for _, p := range files(t, ".s") {
		if path.Dir(p) != "internal/sys" {
			t.Errorf("%s: assembly belongs into internal/sys", p)
		}
	}
}

func TestNoReplaceInGoMod(t *testing.T) {
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(strings.TrimSpace(line), "replace") {
			t.Errorf("go.mod has %q: go install module@version refuses a module with replace", strings.TrimSpace(line))
		}
	}
}

// TestRecordingsOfTestsAreTheirOwn: a package whose tests record, or search shared memory
// for the files of recordings, uses a directory of its own.
func TestRecordingsOfTestsAreTheirOwn(t *testing.T) {
	records := map[string]string{}
	owns := map[string]bool{}
	for _, p := range files(t, "_test.go") {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		text, dir := string(b), path.Dir(p)
		for _, sign := range []string{"\n\t\"" + module + "/scope\"\n", "\n\t\"" + module + "/internal/testing/faultfs/victim\"\n", "\n\t\"" + module + "/internal/hot\"\n", "\npackage scope\n"} {
			if strings.Contains("\n"+text, sign) {
				records[dir] = p
			}
		}
		owns[dir] = owns[dir] || strings.Contains(text, "shmtest.Run(")
	}
	for dir, p := range records {
		if !owns[dir] {
			t.Errorf("%s: the TestMain of package %s does not call shmtest.Run", p, dir)
		}
	}
}

// forbidden are calls that end, interrupt or print over the host program.
var forbidden = []string{
	"panic", "print", "println",
	"os.Exit", "syscall.Exit", "unix.Exit", "runtime.Goexit",
	"log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Print", "log.Printf", "log.Println",
	"signal.Notify", "signal.Ignore", "signal.Reset",
	"fmt.Print", "fmt.Printf", "fmt.Println",
}

func TestG12RecorderLeavesTheProgramAlone(t *testing.T) {
	looked, all := 0, sources(t)
	inside := recorder(all)
	for _, s := range all {
		if !inside[s.pkg] {
			continue
		}
		looked++
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if name := callee(n); slices.Contains(forbidden, name) {
					t.Errorf("%s calls %s", fset.Position(n.Pos()), name)
				}
			case *ast.SelectorExpr:
				// scope/auto and scope/hooks print to standard error when they cannot record.
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "os" && (n.Sel.Name == "Stdout" || n.Sel.Name == "Stderr" && s.pkg != "scope/auto" && s.pkg != "scope/hooks") {
					t.Errorf("%s uses os.%s", fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
	t.Logf("G12: %d files of the recorder, none ends, interrupts or talks over the program", looked)
}

func callee(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// TestFlusherWritesOut: only the flusher prepares a pool's window, writes chunks out and
// drops them.
func TestFlusherWritesOut(t *testing.T) {
	its, calls := []string{"Extend", "Rearm", "Save", "Drop", "Retire", "Fresh"}, map[string]int{}
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			f, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(its, f.Sel.Name) {
				return true
			}
			if of, ok := f.X.(*ast.SelectorExpr); !ok || !strings.EqualFold(of.Sel.Name, "pool") {
				return true
			}
			if calls[f.Sel.Name]++; s.pkg != "flusher" {
				t.Errorf("%s: %s of a pool is the flusher's to call", fset.Position(n.Pos()), f.Sel.Name)
			}
			return true
		})
	}
	for _, name := range its {
		if calls[name] == 0 {
			t.Errorf("no call of %s is found: the test does not see it", name)
		}
	}
}

// TestRaced: make test runs the packages that start goroutines with the race detector,
// except programs.
func TestRaced(t *testing.T) {
	without := map[string]string{
		"internal/advice":                 "it measures what starting them takes, and channels between them",
		"internal/page":                   "its goroutine reads a trace, as requests do at once in internal/live's tests",
		"internal/report/membench":        "it measures memory, each goroutine its own",
		"internal/testing/faultfs":        "its goroutine is a disk, which shares nothing but a log under a lock",
		"internal/testing/faultfs/victim": "it is for tests, in a process of its own",
	}
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, raced, ok := strings.Cut(string(b), "\nRACED := ")
	raced, _, _ = strings.Cut(raced, "\n")
	if !ok || !strings.Contains(string(b), "-race $(RACED)") {
		t.Fatal("the Makefile has no list of what is tested with the race detector")
	}
	list := strings.FieldsFunc(raced, func(r rune) bool { return strings.ContainsRune(" ,()", r) })
	starts := map[string]bool{}
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts[s.pkg] = true
			case *ast.CallExpr: // of a sync.WaitGroup
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" {
					starts[s.pkg] = true
				}
			}
			return true
		})
		if s.file.Name.Name == "main" {
			delete(starts, s.pkg)
		}
	}
	for pkg := range starts {
		_, known := without[pkg]
		if known == (slices.Contains(list, pkg) || pkg == "scope" || strings.HasPrefix(pkg, "scope/")) {
			t.Errorf("%s starts goroutines; RACED in the Makefile has it, or without above says why not", pkg)
		}
	}
	for pkg := range without {
		if !starts[pkg] {
			t.Errorf("%s starts no goroutines", pkg)
		}
	}
}
