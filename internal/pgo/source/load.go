package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// Config selects what Load loads.
type Config struct {
	Dir      string
	Patterns []string // as for the go command
	Flags    []string // flags of go build such as -tags=x
	Names    []string // the profile's functions: their packages are read with their function bodies
	// Module reports that all packages of the main module are read with their bodies, for
	// Salvage: functions may have moved to packages that the profile does not have.
	Module bool
}

// Source is the current source, for Check and Salvage.
type Source struct {
	Failures []Failure

	funcs    map[string]*fn   // by folded name
	pkgs     map[string]*unit // by the linker's path
	children map[string][]*fn // closures by the folded name of the enclosing function
}

// Failure is a package that does not load. Its functions are unknown.
type Failure struct {
	Package string
	Err     error
}

// ErrNothing reports that patterns match no package.
var ErrNothing = errors.New("no package matches")

// unit is a package of the build.
type unit struct {
	path  string // the linker's
	std   bool   // of the standard library
	ours  bool   // of the main module
	list  *packages.Package
	deps  []*unit
	needs bool // bodies are read
	types *types.Package
	funcs []*fn
	err   error
	done  chan struct{}
}

// Load reads the source of the packages that match the patterns and of their dependencies. A
// package that does not load is added to Failures and is not an error.
func Load(ctx context.Context, c Config) (*Source, error) {
	names := map[string]bool{}
	for _, n := range c.Names {
		pkg, _ := split(fold(n))
		names[pkg] = true
	}
	tests := slices.ContainsFunc(c.Names, ofTest)
	list, err := c.list(ctx, tests)
	if err == nil && !tests && lacks(list, names) {
		list, err = c.list(ctx, true) // packages that only tests import
	}
	if err != nil {
		return nil, err
	}
	l := &loader{fset: token.NewFileSet(), names: names, units: map[*packages.Package]*unit{}, module: c.Module}
	for _, p := range list {
		l.unit(p)
	}
	if err := l.run(ctx); err != nil {
		return nil, err
	}
	return l.source(c.Names), nil
}

// list returns the packages that match the patterns, with their dependencies.
func (c *Config) list(ctx context.Context, tests bool) ([]*packages.Package, error) {
	list, err := packages.Load(&packages.Config{
		Context: ctx, Dir: c.Dir, BuildFlags: c.Flags, Tests: tests,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}, c.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("%s: listing the packages %q; does go list work there? %w", cmp.Or(c.Dir, "."), c.Patterns, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %q: %w", cmp.Or(c.Dir, "."), c.Patterns, ErrNothing)
	}
	return list, nil
}

// lacks reports whether a package of these paths is not in the list.
func lacks(list []*packages.Package, paths map[string]bool) bool {
	has := map[string]bool{"": true, "main": true}
	packages.Visit(list, nil, func(p *packages.Package) { has[linkPath(p.PkgPath)] = true })
	for path := range paths {
		if !has[path] {
			return true
		}
	}
	return false
}

// testFunc matches names that the go command accepts for tests.
var testFunc = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)([^a-z]|$)`)

// ofTest reports whether a function seems to exist only in tests: of package testing, which a
// profile's innermost calls may lack, of an external test, or a test by its name.
func ofTest(name string) bool {
	pkg, rest := split(outermost(fold(name)))
	return pkg == "testing" || strings.HasSuffix(pkg, "_test") || testFunc.MatchString(rest)
}

type loader struct {
	fset   *token.FileSet
	names  map[string]bool // paths of packages
	module bool
	units  map[*packages.Package]*unit
}

// unit returns the unit of a package. It creates missing units, also for the imports.
func (l *loader) unit(p *packages.Package) *unit {
	if u := l.units[p]; u != nil {
		return u
	}
	u := &unit{path: linkPath(p.PkgPath), list: p, std: p.Module == nil, done: make(chan struct{})}
	u.ours = p.Module != nil && p.Module.Main
	if p.Name == "main" {
		u.path = "main"
	}
	u.needs = l.names[u.path] || l.module && u.ours
	for _, e := range p.Errors {
		if e.Kind != packages.TypeError && u.err == nil {
			u.err = e
		}
	}
	l.units[p] = u
	for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
		u.deps = append(u.deps, l.unit(p.Imports[path]))
	}
	return u
}

// run checks the types of the packages whose bodies are needed and of their dependencies,
// GOMAXPROCS at a time.
func (l *loader) run(ctx context.Context) error {
	wanted := map[*unit]bool{}
	var want func(u *unit)
	want = func(u *unit) {
		if !wanted[u] {
			wanted[u] = true
			for _, d := range u.deps {
				want(d)
			}
		}
	}
	for _, u := range l.units {
		if u.needs {
			want(u)
		}
	}
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for u := range wanted {
		all.Go(func() {
			defer close(u.done)
			for _, d := range u.deps {
				<-d.done
			}
			turns <- struct{}{}
			defer func() { <-turns }()
			if ctx.Err() == nil {
				l.check(u)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// check parses a package and checks its types, and those in function bodies if they are
// needed.
func (l *loader) check(u *unit) {
	if u.list.PkgPath == "unsafe" {
		u.types = types.Unsafe
		return
	}
	cgo := false // go/types has no types for C
	fail := func(err error) {
		var e types.Error
		unknown := cgo && errors.As(err, &e) && strings.Contains(e.Msg, "invalid type")
		if u.err == nil && !unknown {
			u.err = err
		}
	}
	var files []*ast.File
	for _, name := range u.list.GoFiles {
		f, err := parser.ParseFile(l.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			fail(err)
		}
		if f != nil {
			files = append(files, f)
			cgo = cgo || slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
		}
	}
	conf := types.Config{
		IgnoreFuncBodies: !u.needs, FakeImportC: true, Error: fail, Importer: importer(u.imported),
		Sizes: types.SizesFor("gc", cmp.Or(os.Getenv("GOARCH"), runtime.GOARCH)),
	}
	var info *types.Info
	if u.needs {
		info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
		}
	}
	u.types, _ = conf.Check(u.list.PkgPath, l.fset, files, info) // errors went to fail
	if u.needs && u.err == nil {
		u.funcs = functions(u.path, l.fset, info, files)
	}
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

func (u *unit) imported(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := u.list.Imports[path]
	if p == nil {
		return nil, fmt.Errorf("the go command does not list %s among the imports of %s", path, u.list.PkgPath)
	}
	for _, d := range u.deps {
		if d.list == p && d.types != nil {
			return d.types, nil
		}
	}
	return nil, fmt.Errorf("package %s did not load", path)
}

// source builds the tables of a Source. Of several commands it uses the one that has most of
// the profile's functions, because a profile is of one program.
func (l *loader) source(names []string) *Source {
	s := &Source{funcs: map[string]*fn{}, pkgs: map[string]*unit{}, children: map[string][]*fn{}}
	had := map[string]bool{}
	for _, n := range names {
		had[fold(n)] = true
	}
	best := -1
	byPath := func(a, b *unit) int { return cmp.Compare(a.list.ID, b.list.ID) }
	for _, u := range slices.SortedFunc(maps.Values(l.units), byPath) {
		if u.path != "main" {
			if has := s.pkgs[u.path]; has == nil || len(u.list.GoFiles) > len(has.list.GoFiles) { // the variant with tests has more files
				s.pkgs[u.path] = u
			}
			continue
		}
		n := 0
		for _, f := range u.funcs {
			if had[f.name] {
				n++
			}
		}
		if n > best {
			s.pkgs["main"], best = u, n
		}
	}
	for _, u := range s.pkgs {
		if u.err != nil && u.needs {
			s.Failures = append(s.Failures, Failure{u.list.PkgPath, u.err})
		}
		for _, f := range u.funcs {
			f.pkg = u
			s.funcs[f.name] = f
			if f.outer != "" {
				s.children[f.outer] = append(s.children[f.outer], f)
			}
		}
	}
	slices.SortFunc(s.Failures, func(a, b Failure) int { return cmp.Compare(a.Package, b.Package) })
	return s
}
