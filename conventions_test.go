// Package scopeview_test checks the conventions of the whole module: who may
// import whom, what the recorder may never do, and what a program that imports
// it takes on.
package scopeview_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

const module = "github.com/scopeview/scopeview"

// source is a Go file that is no test, parsed for every system and tag.
type source struct {
	path string // relative to the root, with slashes
	pkg  string // its directory; "." for the root
	file *ast.File
}

var fset = token.NewFileSet()

// files lists the module's files with that ending, with slashes. Nested modules
// and test data are not ours.
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

// layer is a line of ARCHITECTURE.md, Who may import whom: packages of one side. An entry that
// ends in * stands for all that begin so; they may import one another.
type layer struct {
	side     string // both, recorder, tool, tests
	packages []string
}

// layers reads them, the lowest first.
func layers(t *testing.T) (list []layer) {
	t.Helper()
	_, rest, _ := strings.Cut(string(read(t, "ARCHITECTURE.md")), "## Who may import whom")
	_, rest, _ = strings.Cut(rest, "```\n")
	table, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table of who may import whom")
	}
	side := ""
	for line := range strings.Lines(table) {
		names := strings.Fields(line)
		if line[0] != ' ' {
			side, names = names[0], names[1:]
		}
		for i, name := range names {
			if _, err := os.Stat("internal/" + strings.TrimRight(name, "*/")); err == nil && name != "." {
				names[i] = "internal/" + name
			}
		}
		list = append(list, layer{side, names})
	}
	return list
}

func covers(pattern, pkg string) bool {
	if start, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(pkg, start)
	}
	return pattern == pkg
}

// layerOf returns the layer of a package and the entry that stands for it; -1 if there is none.
func layerOf(list []layer, pkg string) (at int, entry string) {
	at = -1
	for i, l := range list {
		for _, p := range l.packages {
			if covers(p, pkg) && len(p) > len(entry) {
				at, entry = i, p
			}
		}
	}
	return at, entry
}

// TestDependenciesRunOneWay: a package imports only those of layers below its own, which both sides
// share or which are its own side's.
func TestDependenciesRunOneWay(t *testing.T) {
	list := layers(t)
	for _, s := range sources(t) {
		own, entry := layerOf(list, s.pkg)
		if own < 0 {
			t.Errorf("%s: package %s is in no layer of ARCHITECTURE.md", s.path, s.pkg)
			continue
		}
		for _, i := range imports(s) {
			i, ours := strings.CutPrefix(i, module+"/")
			if !ours {
				continue
			}
			at, other := layerOf(list, i)
			side, may := list[own].side, at >= 0 && at < own || entry == other && strings.HasSuffix(entry, "*")
			if from := list[max(at, 0)].side; !may || from != "both" && from != side && side != "tests" {
				t.Errorf("%s imports %s, which %s may not: see the layers in ARCHITECTURE.md", s.path, i, s.pkg)
			}
		}
	}
}

// recorder returns the packages that run inside the programs of others: those that programs
// import, and their imports. (export/html is not among them: its callers need a reader.)
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
	web := []string{"net/http", "html", "encoding/json"} // what scopehttp is for
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
	b := filetest.Read(t, "go.mod")
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(strings.TrimSpace(line), "replace") {
			t.Errorf("go.mod has %q: go install module@version refuses a module with replace", strings.TrimSpace(line))
		}
	}
}

// TestRecordingsOfTestsAreTheirOwn: a package whose tests record, or look for what a
// recording left in shared memory, does so in a directory of its own.
func TestRecordingsOfTestsAreTheirOwn(t *testing.T) {
	records := map[string]string{}
	owns := map[string]bool{}
	for _, p := range files(t, "_test.go") {
		b := filetest.Read(t, p)
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

// forbidden are calls that end, interrupt or talk over the host program.
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
				// scope/auto and scope/hooks say on standard error when they can't record.
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

// TestFlusherWritesOut: the flusher alone prepares a pool's window, writes chunks out and
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

// makeVariable returns the value of a variable that the Makefile sets and uses so.
func makeVariable(t *testing.T, name, use string) string {
	t.Helper()
	b := filetest.Read(t, "Makefile")
	_, value, ok := strings.Cut(string(b), "\n"+name+" := ")
	value, _, _ = strings.Cut(value, "\n")
	if !ok || !strings.Contains(string(b), use) {
		t.Fatalf("the Makefile has no %s, or no %s", name, use)
	}
	return value
}

// TestWitnessesAreNamed: where a witness fails, make test runs those tests of internal/record
// that name one. What its test files declare once for a build and otherwise for another is such
// a name.
func TestWitnessesAreNamed(t *testing.T) {
	tags := strings.Join(strings.Fields(makeVariable(t, "WITNESSES", "for tag in $(WITNESSES)")), "|")
	tagged := regexp.MustCompile(`(?m)^//go:build .*\b(` + tags + `)\b`)
	named := regexp.MustCompile(makeVariable(t, "NAMES_WITNESS", "-naming '$(NAMES_WITNESS)'"))
	paths, err := filepath.Glob("internal/record/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	variants := map[string]int{}
	for _, path := range paths {
		source := filetest.Read(t, path)
		if !tagged.Match(source) {
			continue
		}
		file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range declared(file) {
			variants[name]++
		}
	}
	found := 0
	for name, n := range variants {
		if n == 1 {
			continue // only files for the same builds use it
		}
		if found++; !named.MatchString(name) {
			t.Errorf("%s depends on a witness, and NAMES_WITNESS of the Makefile does not match it", name)
		}
	}
	if found == 0 {
		t.Error("no name in internal/record's tests depends on a witness: the test does not see them")
	}
}

// declared returns the names of a file's functions, constants and variables.
func declared(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for _, n := range v.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// TestRaced: make test runs those packages with the race detector that start goroutines.
// Programs do too, but what they share is a library's.
func TestRaced(t *testing.T) {
	without := map[string]string{
		"internal/advice":                 "it measures what starting them takes, and channels between them",
		"internal/page":                   "its goroutine reads a trace, as requests do at once in internal/live's tests",
		"internal/report/membench":        "it measures memory, each goroutine its own",
		"internal/testing/faultfs":        "its goroutine is a disk, which shares nothing but a log under a lock",
		"internal/testing/faultfs/victim": "it is for tests, in a process of its own",
	}
	raced := makeVariable(t, "RACED", "-race $(RACED)")
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
