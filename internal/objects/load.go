package objects

import (
	"bytes"
	"cmp"
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of the time for reading a package, and for reading all packages of a trace; after
// that, the remaining places keep their own names.
const (
	longest = 10 * time.Second
	longAll = 30 * time.Second
)

// system is the target of a program's build; "": unknown.
type system struct{ os, arch string }

// load reads the package that contains a file. If it can't, the result has no calls.
func (n *Namer) load(file, base string) *waits {
	if n.took > longAll {
		return nothing(base)
	}
	defer func(began time.Time) { n.took += time.Since(began) }(time.Now())
	files, err := n.sources.Package(file)
	if err != nil {
		return nothing(base)
	}
	done := make(chan *waits, 1)
	go func() {
		w := nothing(base)
		defer func() {
			_ = recover() // of go/types, which has had bugs; the place then keeps its name
			done <- w
		}()
		if x, err := read(files, base, n.system); err == nil {
			w = x
		}
	}()
	select {
	case w := <-done:
		return w
	case <-time.After(longest):
		return nothing(base)
	}
}

var errOtherBuild = errors.New("a build without tags does not have the file")

// read reads the package of a file.
func read(files map[string][]byte, base string, sys system) (*waits, error) {
	fset := token.NewFileSet()
	first, err := parse(fset, base, files[base])
	if err != nil {
		return nil, err
	}
	names := built(files, strings.HasSuffix(base, "_test.go"), sys)
	if !slices.Contains(names, base) {
		return nil, errOtherBuild // it is unknown which other files belong to it
	}
	p := &pkg{name: first.Name.Name, fset: fset, waits: &waits{map[string]map[int][]call{}}}
	var list []*ast.File
	for _, name := range names {
		f := first
		if name != base {
			if f, err = parse(fset, name, files[name]); err != nil {
				return nil, err
			}
		}
		if f.Name.Name == p.name {
			list = append(list, f)
			p.waits.files[name] = map[int][]call{}
		}
	}
	p.check(list)
	for _, f := range list {
		p.file(f)
	}
	return p.waits, nil
}

// parse parses a file, unless it nests too deep for walking over the tree.
func parse(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
	if deep(src) {
		return nil, errDeep
	}
	return parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
}

// built lists the files that a build includes.
func built(files map[string][]byte, tests bool, sys system) (names []string) {
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH = cmp.Or(sys.os, runtime.GOOS), cmp.Or(sys.arch, runtime.GOARCH)
	ctx.CgoEnabled = true
	ctx.OpenFile = func(path string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files[filepath.Base(path)])), nil
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "_test.go") && !tests {
			continue
		}
		if ok, err := ctx.MatchFile("", name); ok && err == nil {
			names = append(names, name)
		}
	}
	return names
}

// check determines the types in the files.
func (p *pkg) check(files []*ast.File) {
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !canWait(fn.Body) {
				fn.Body = nil // most functions are such, and checking them takes most of the time
			}
		}
	}
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	conf := types.Config{
		Importer: locks(), FakeImportC: true, DisableUnusedImportCheck: true,
		Error: func(error) {}, // expressions with errors have no type
	}
	p.types, _ = conf.Check(p.name, p.fset, files, p.info)
}

// importer has some packages. All others are empty, and their uses are type errors.
type importer map[string]*types.Package

var errEmpty = errors.New("other packages are not read")

// Import returns a package.
func (m importer) Import(path string) (*types.Package, error) {
	if p := m[path]; p != nil {
		return p, nil
	}
	return nil, errEmpty
}

const scopePath = "github.com/scopeview/scopeview/scope"

// locks returns packages with the types that are waited for, without their implementations, and
// with types that contain them.
var locks = sync.OnceValue(func() importer {
	const (
		mutex = `
type Mutex struct{ Name string }
func (*Mutex) Lock() {}
func (*Mutex) TryLock() (_ bool) { return }
func (*Mutex) Unlock() {}
type RWMutex struct{ Name string }
func (*RWMutex) Lock() {}
func (*RWMutex) TryLock() (_ bool) { return }
func (*RWMutex) Unlock() {}
func (*RWMutex) RLock() {}
func (*RWMutex) TryRLock() (_ bool) { return }
func (*RWMutex) RUnlock() {}
`
		others = `
type Locker interface{ Lock(); Unlock() }
func (*RWMutex) RLocker() (_ Locker) { return }
type WaitGroup struct{ _ int }
func (*WaitGroup) Add(int) {}
func (*WaitGroup) Done() {}
func (*WaitGroup) Wait() {}
func (*WaitGroup) Go(func()) {}
type Cond struct{ L Locker }
func NewCond(l Locker) (_ *Cond) { return }
func (*Cond) Wait() {}
func (*Cond) Signal() {}
func (*Cond) Broadcast() {}
type Once struct{ _ int }
func (*Once) Do(func()) {}
type Map struct{ _ int }
func (*Map) Load(any) (_ any, _ bool) { return }
func (*Map) Store(_, _ any) {}
func (*Map) LoadOrStore(_, _ any) (_ any, _ bool) { return }
func (*Map) LoadAndDelete(any) (_ any, _ bool) { return }
func (*Map) Delete(any) {}
func (*Map) Swap(_, _ any) (_ any, _ bool) { return }
func (*Map) CompareAndSwap(_, _, _ any) (_ bool) { return }
func (*Map) CompareAndDelete(_, _ any) (_ bool) { return }
func (*Map) Range(func(_, _ any) bool) {}
func (*Map) Clear() {}
type Pool struct{ New func() any }
func (*Pool) Get() (_ any) { return }
func (*Pool) Put(any) {}
`
		atomic = `
type Value struct{ _ int }
func (*Value) Load() (_ any) { return }
func (*Value) Store(any) {}
type Pointer[T any] struct{ _ *T }
func (*Pointer[T]) Load() (_ *T) { return }
func (*Pointer[T]) Store(*T) {}
func (*Pointer[T]) Swap(*T) (_ *T) { return }
func (*Pointer[T]) CompareAndSwap(_, _ *T) (_ bool) { return }
`
	)
	all := importer{}
	for _, x := range [][2]string{
		{"sync", "package sync\n" + mutex + others},
		{"sync/atomic", "package atomic\n" + atomic},
		{scopePath, "package scope\nimport \"sync\"\n" + mutex + "func (*RWMutex) RLocker() (_ sync.Locker) { return }\n"},
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, x[0], x[1], parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		conf := types.Config{Importer: all}
		if all[x[0]], err = conf.Check(x[0], fset, []*ast.File{f}, nil); err != nil {
			panic(err)
		}
	}
	return all
})
