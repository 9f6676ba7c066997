// Package instrument edits the files of a package so that its functions are recorded as
// scopes. It maps texts to texts: it runs no command and accesses no file.
//
// A recorded function begins with a statement on the line of its opening brace:
//
//	func (c *client) flush() { if h := _scopeview_f[17].Enter(); h.Loc != 0 { defer h.End() };
//
// The sites are a table in an added file, which also imports package hooks.
//
//   - sites.go: the functions of a package, and their names
//   - reasons.go: functions that are not recorded, and the reasons
//   - cost.go, calls.go, known.go, types.go: estimates of the compiler's inlining
//   - brief.go: functions that take some ten nanoseconds, with all that they call
//   - params.go: the recorded parameters
//   - edit.go, lines.go: the text, and line directives that preserve lines and columns
//   - table.go: the file with the table
//
// Invariants:
//
//  1. The table is declared before all variables of the package. Otherwise a variable whose
//     initialiser calls a recorded function would wait for the table, and others would be
//     initialised before it.
//  2. Each insertion that code follows on its line ends in a line directive. Otherwise
//     positions in panics, profiles and errors would be off.
//  3. The edit adds no function literal. Otherwise the compiler would number those of the
//     program differently.
package instrument

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
)

// Input is a package to edit.
type Input struct {
	// ImportPath is the package's path; of an external test package it ends in _test.
	ImportPath string
	// Name is the package's name.
	Name string
	// Files are the texts to edit, by base name: those passed to the compiler.
	Files map[string][]byte
	// With are other files of the same package, which are not edited: for in-package tests
	// the package's own files, and for these the tests.
	With map[string][]byte
	// Tests means that Files are the package's tests. Their table is in a test file too.
	Tests bool
	// Covered are the texts that go tool cover made of Files. If a file has one, that text is
	// edited, but decisions about its functions are based on the original.
	Covered map[string][]byte
	// Dir is the package's directory, an absolute path, which the compiler uses in errors and
	// stacks; otherwise these would name the edited file.
	Dir string
	// LineDirs means that relative names in line directives are relative to Dir, as from Go
	// 1.27 on: then they are rewritten as absolute ones.
	LineDirs bool
	// Hooks is the import path of package hooks.
	Hooks string
	// Args enables the recording of parameters.
	Args bool
	// Small enables the recording of functions that the compiler inlines, and of the smallest
	// ones.
	Small bool
	// LeaveOut returns, for the name of a function, whether it is not recorded and the
	// reason; nil leaves out none.
	LeaveOut func(function string) (reason string, out bool)
}

// Output is an edited package.
type Output struct {
	// Files are the changed texts, by base name.
	Files map[string][]byte
	// Table is the file to add to the package; it has no text if nothing is recorded. Its
	// name sorts before all of Files, and it must precede them in the compiler's arguments.
	Table File
	// Funcs are the package's functions, in the order of files and places.
	Funcs []Func
}

// File is a file's base name and its text.
type File struct {
	Name string
	Text []byte
}

// Func is a function of a package.
type Func struct {
	Name string // linker's name, with the package's short name
	File string
	Line int // as counted by the compiler, after line directives
	Cost int // estimated cost of inlining it; Never if that is impossible
	// Loops means that a call may take any time: it has a loop, or a function literal.
	Loops bool
	Why   string // reason why it is not recorded; "": it is recorded
}

// ErrOrder reports that no file name sorts before those of a package's files.
var ErrOrder = errors.New("no file name sorts before those of the package; rename its first file")

// Package edits the files of a package. It returns an error for files that do not parse: the
// compiler's message is better.
func Package(in Input) (Output, error) {
	p, err := parse(in)
	if err != nil {
		return Output{}, err
	}
	table, err := tableName(in)
	if err != nil {
		return Output{}, fmt.Errorf("instrumenting %s: %w", in.ImportPath, err)
	}
	p.check()
	for _, f := range p.edited {
		p.addCompares(f.ast)
	}
	out := Output{Files: map[string][]byte{}}
	var rows []Func
	for _, f := range p.edited {
		e, err := newEdit(p, f)
		if err != nil {
			return Output{}, fmt.Errorf("instrumenting %s: %w", in.ImportPath, err)
		}
		for _, s := range f.sites {
			fn := Func{Name: s.name, File: f.name, Line: p.fset.Position(s.node.Pos()).Line, Cost: Never}
			cost := p.cost(s)
			if !cost.never {
				fn.Cost = min(cost.size, Never)
			}
			if fn.Why = p.reason(e, s, cost); fn.Why == "" {
				e.enter(s, len(rows))
				rows = append(rows, fn)
			}
			out.Funcs = append(out.Funcs, fn)
		}
		if text := e.text(); text != nil {
			out.Files[f.name] = text
		}
	}
	if len(rows) > 0 {
		out.Table = File{Name: table, Text: p.table(rows)}
	}
	return out, nil
}

// pkg is a package that is being edited.
type pkg struct {
	Input
	fset   *token.FileSet
	edited []*file // Files, sorted by name
	all    []*ast.File
	prefix string // of inserted names: no identifier of the package begins with it
	info   types.Info
	decls  map[types.Object]*ast.FuncDecl
	orders map[*ast.FuncDecl][]string // go: directives of functions
	costs  map[ast.Node]cost
	briefs map[ast.Node]int

	compares map[ast.Node]bool // function literals passed to package sort or slices
}

// file is one of the files to edit.
type file struct {
	name  string
	text  []byte
	ast   *ast.File
	sites []*site
}

func parse(in Input) (*pkg, error) {
	p := &pkg{Input: in, fset: token.NewFileSet(), orders: map[*ast.FuncDecl][]string{}, costs: map[ast.Node]cost{}, briefs: map[ast.Node]int{}, compares: map[ast.Node]bool{}}
	n := names{pkg: shortPackage(in)}
	for _, name := range slices.Sorted(maps.Keys(in.With)) {
		f, err := p.parse(name, in.With[name])
		if err != nil {
			continue // it may be left out of the build
		}
		if in.Tests && !importsC(f) {
			n.sites(f) // the compiler continues the numbering in the tests
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		f, err := p.parse(name, in.Files[name])
		if err != nil {
			return nil, err
		}
		p.edited = append(p.edited, &file{name: name, text: in.Files[name], ast: f, sites: n.sites(f)})
	}
	p.prefix = freePrefix(in)
	return p, nil
}

func (p *pkg) parse(name string, text []byte) (*ast.File, error) {
	f, err := parser.ParseFile(p.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("instrumenting %s: %w", p.ImportPath, err)
	}
	p.all = append(p.all, f)
	p.addOrders(f)
	return f, nil
}

// freePrefix returns a prefix that occurs in no text of the package, so that inserted names
// neither shadow nor collide.
func freePrefix(in Input) string {
	for i := 1; ; i++ {
		prefix := "_scopeview"
		if i > 1 {
			prefix += strconv.Itoa(i)
		}
		if !has(in.Files, prefix) && !has(in.With, prefix) {
			return prefix
		}
	}
}

func has(files map[string][]byte, word string) bool {
	for _, text := range files {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}
