package instrument

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// site is a function with a body, or a declaration without one.
type site struct {
	name  string
	node  ast.Node // a FuncDecl or a FuncLit
	typ   *ast.FuncType
	body  *ast.BlockStmt
	decl  *ast.FuncDecl // the declaration itself, or the enclosing one; nil in a variable's value
	inner int           // number of function literals in it so far
	outer *site         // enclosing function; nil for a declaration, and in a variable's value
}

// names assigns the names of a package's functions as Go 1.26 does: literals are numbered in
// source order, in each function from 1. The literals of an inlined function have additional
// names. Go 1.27 differs in one case: a literal in the body of a loop over a function is
// f-range1.1 there, and f.func1 here.
type names struct {
	pkg      string
	inits    int // number of functions named init so far
	literals int // number of literals in the values of the package's variables so far
}

// shortPackage returns the package's prefix of function names.
func shortPackage(in Input) string {
	if in.Name == "main" {
		return "main"
	}
	dir, last := "", in.ImportPath
	if i := strings.LastIndexByte(last, '/'); i >= 0 {
		dir, last = last[:i+1], last[i+1:]
	}
	// As in the linker's escaping: after a dot in the last element a function's name would
	// begin.
	last = strings.NewReplacer("%", "%25", ".", "%2e").Replace(last)
	return strings.TrimSuffix(format.ShortFunction(dir+last+".f"), ".f")
}

// sites returns the functions of a file in source order.
func (n *names) sites(f *ast.File) []*site {
	var all []*site
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			n.walk(d, nil, &all)
			continue
		}
		s := &site{name: n.declared(fn), node: fn, typ: fn.Type, body: fn.Body, decl: fn}
		all = append(all, s)
		if fn.Body != nil {
			n.walk(fn.Body, s, &all)
		}
	}
	return all
}

// walk adds the function literals below node, which is in the function outer.
func (n *names) walk(node ast.Node, outer *site, all *[]*site) {
	ast.Inspect(node, func(node ast.Node) bool {
		lit, ok := node.(*ast.FuncLit)
		if !ok {
			return true
		}
		s := &site{node: lit, typ: lit.Type, body: lit.Body, outer: outer}
		switch {
		case outer == nil:
			n.literals++
			s.name = fmt.Sprintf("%s.init.func%d", n.pkg, n.literals)
		case outer.outer == nil && outer.node == ast.Node(outer.decl):
			outer.inner++
			s.name, s.decl = outer.name+".func"+strconv.Itoa(outer.inner), outer.decl
		default:
			outer.inner++
			s.name, s.decl = outer.name+"."+strconv.Itoa(outer.inner), outer.decl
		}
		*all = append(*all, s)
		n.walk(lit.Body, s, all)
		return false
	})
}

// declared returns the name of a declared function: pkg.F, pkg.F[...], pkg.T.M,
// pkg.(*T[...]).M.
func (n *names) declared(fn *ast.FuncDecl) string {
	name := fn.Name.Name
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		switch {
		case name == "init":
			name = "init." + strconv.Itoa(n.inits)
			n.inits++
		case fn.Type.TypeParams != nil:
			name += "[...]"
		}
		return n.pkg + "." + name
	}
	recv, star := ast.Unparen(fn.Recv.List[0].Type), false
	if s, ok := recv.(*ast.StarExpr); ok {
		recv, star = ast.Unparen(s.X), true
	}
	of := ""
	switch r := recv.(type) {
	case *ast.IndexExpr:
		recv, of = r.X, "[...]"
	case *ast.IndexListExpr:
		recv, of = r.X, "[...]"
	}
	if id, ok := ast.Unparen(recv).(*ast.Ident); ok {
		of = id.Name + of
	}
	if star {
		of = "(*" + of + ")"
	}
	if fn.Type.TypeParams != nil { // from Go 1.27 on
		name += "[...]"
	}
	return n.pkg + "." + of + "." + name
}
