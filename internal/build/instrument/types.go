package instrument

import (
	"errors"
	"go/ast"
	"go/types"
)

// check resolves types, as far as that is possible without other packages. It skips the
// bodies of functions too large to be inlined, which are most of the text.
func (p *pkg) check() {
	size := 0
	for _, f := range p.edited {
		size += len(f.text)
	}
	p.info = types.Info{
		Types:      make(map[ast.Expr]types.TypeAndValue, size/24),
		Defs:       make(map[*ast.Ident]types.Object, size/128),
		Uses:       make(map[*ast.Ident]types.Object, size/48),
		Selections: make(map[*ast.SelectorExpr]*types.Selection, size/256),
	}
	c := types.Config{
		Importer:    nothing{},
		FakeImportC: true,
		Error:       func(error) {}, // types of other packages are unknown
		Sizes:       types.SizesFor("gc", "amd64"),
	}
	bodies := map[*ast.FuncDecl]*ast.BlockStmt{}
	for _, f := range p.all {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && large(fn.Body) {
				bodies[fn], fn.Body = fn.Body, nil
				p.costs[fn] = cost{size: Never}
			}
		}
	}
	c.Check(p.ImportPath, p.fset, p.all, &p.info)
	for fn, body := range bodies {
		fn.Body = body
	}
	p.decls = map[types.Object]*ast.FuncDecl{}
	for _, f := range p.all {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if o := p.info.Defs[fn.Name]; o != nil {
					p.decls[o] = fn
				}
			}
		}
	}
}

// large reports whether a body has so many parts that it exceeds any limit, and no function
// literal, which has an estimate of its own.
func large(body *ast.BlockStmt) bool {
	parts, literals := 0, false
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			literals = true
		}
		if n != nil {
			parts++
		}
		return !literals
	})
	return parts > 2*smallLeaf && !literals
}

var errNoImport = errors.New("other packages are not read")

// nothing is an importer that always fails: the checker then uses only names.
type nothing struct{}

// Import fails.
func (nothing) Import(string) (*types.Package, error) { return nil, errNoImport }
