// Package scopevet finds calls of package scope that compile but do not record what was
// intended. Missing a mistake is better than a false report: users disable a check that is
// wrong once.
//
//   - dropped.go: a Task, Taskf, Process, Pending, Lock, Begin or Context whose result
//     is dropped, or deferred without being called; a scope that ends where it begins
//   - verbs.go: the verbs of a Taskf against its arguments
//   - unended.go: a variable that holds an end or a Span, and nothing ends it
//   - leftopen.go: the same on some ways through the function only
package scopevet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

const scopePath = "github.com/scopeview/scopeview/scope"

// recordPath is the path of package scope's engine, which declares the type of scope.Arg.
const recordPath = "github.com/scopeview/scopeview/internal/record"

// Analyzer reports scopes that never end, and formats that don't fit.
var Analyzer = &analysis.Analyzer{
	Name: "scopeview",
	Doc: `check calls of github.com/scopeview/scopeview/scope

It reports a Task, Taskf, Process, Pending, Lock, Begin or Context whose result is
dropped or deferred without being called, a scope that ends where it begins because
the defer is missing, verbs of a Taskf that don't fit its arguments, and a scope
that a return, a continue or a break leaves behind.`,
	Requires:  []*analysis.Analyzer{inspect.Analyzer, ctrlflow.Analyzer},
	FactTypes: []analysis.Fact{new(begins)},
	Run:       run,
}

// begins is the kind of thing that calling a function begins: known for package scope, and a
// fact for functions that return the result of such a call.
type begins struct{ Thing thing }

func (*begins) AFact() {}

func (b *begins) String() string { return "begins " + things[b.Thing].name }

type thing int

const (
	aScope thing = iota
	anEvent
	aLock
)

// things are the things that can begin, with the words of the messages.
var things = [...]struct{ name, begin, never string }{
	aScope:  {"the scope", "begins", "never ends"},
	anEvent: {"the event", "is announced", "never happens"},
	aLock:   {"the lock", "is taken", "is never unlocked"},
}

var api = map[string]thing{
	"Task": aScope, "Taskf": aScope, "Process": aScope, "Begin": aScope, "Context": aScope,
	"Pending": anEvent,
	"Lock":    aLock,
}

// checker is one run on a package.
type checker struct {
	*analysis.Pass
	root inspector.Cursor
}

func run(pass *analysis.Pass) (any, error) {
	// The recorder's own tests misuse it on purpose.
	if isScope(pass.Pkg) || strings.HasPrefix(pass.Pkg.Path(), recordPath) {
		return nil, nil
	}
	c := &checker{pass, pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()}
	c.wrappers()
	for cur := range c.root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if f, t, ok := c.begun(call); ok {
			c.dropped(cur, f, t)
			if isScope(f.Pkg()) && f.Name() == "Taskf" {
				c.verbs(call)
			}
		}
	}
	for cur := range c.root.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		c.unended(cur)
	}
	return nil, nil
}

// isScope reports whether p is package scope; for its tests the go command appends a suffix
// to the path.
func isScope(p *types.Package) bool {
	path, _, _ := strings.Cut(p.Path(), " ")
	return path == scopePath
}

// begun returns the called function and the thing that the call begins.
func (c *checker) begun(call *ast.CallExpr) (f *types.Func, t thing, ok bool) {
	f = typeutil.StaticCallee(c.TypesInfo, call)
	if f == nil || f.Pkg() == nil || endOfResults(f) < 0 {
		return nil, 0, false
	}
	f = f.Origin()
	if isScope(f.Pkg()) && f.Signature().Recv() == nil {
		t, ok = api[f.Name()]
		return f, t, ok
	}
	var b begins
	ok = c.ImportObjectFact(f, &b)
	return f, b.Thing, ok
}

// endOfResults returns the index of f's result that ends something: its only one, a func()
// or a Span, or a Span after another one, as of Context; -1: none.
func endOfResults(f *types.Func) int {
	r := f.Signature().Results()
	if n := r.Len(); n == 1 || n == 2 {
		if isNamed(r.At(n-1).Type(), "Span") {
			return n - 1
		}
		end, ok := r.At(n - 1).Type().(*types.Signature)
		if ok && n == 1 && end.Params().Len() == 0 && end.Results().Len() == 0 {
			return 0
		}
	}
	return -1
}

// isNamed reports whether t is package scope's type with that name.
func isNamed(t types.Type, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && (isScope(n.Obj().Pkg()) || n.Obj().Pkg().Path() == recordPath) && n.Obj().Name() == name
}

// wrappers exports facts for the package's functions that return the result of a beginning
// call: dropping their result drops an end. A wrapper may call one that is declared later,
// so it repeats until nothing changes.
func (c *checker) wrappers() {
	for found := true; found; {
		found = false
		for cur := range c.root.Preorder((*ast.ReturnStmt)(nil)) {
			ret := cur.Node().(*ast.ReturnStmt)
			if len(ret.Results) != 1 {
				continue
			}
			call, ok := ast.Unparen(ret.Results[0]).(*ast.CallExpr)
			if !ok {
				continue
			}
			_, t, ok := c.begun(call)
			decl, isDecl := function(cur).(*ast.FuncDecl)
			if !ok || !isDecl {
				continue
			}
			f, ok := c.TypesInfo.Defs[decl.Name].(*types.Func)
			if ok && endOfResults(f) >= 0 && !c.ImportObjectFact(f, new(begins)) {
				c.ExportObjectFact(f, &begins{t})
				found = true
			}
		}
	}
}

// function returns the innermost function around cur, a FuncDecl or FuncLit, or nil.
func function(cur inspector.Cursor) ast.Node {
	for f := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return f.Node()
	}
	return nil
}
