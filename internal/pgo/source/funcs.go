package source

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// fn is a function of the source.
type fn struct {
	name  string // the linker's, folded
	outer string // for a closure: the function in which it is numbered
	pkg   *unit
	sig   *types.Signature
	file  string
	start int  // the first line
	body  bool // it is written in Go
	args  int  // number of type arguments in its name
	calls []call

	funcs, ranges int // number of closures so far
	lit           bool
	rang          *fn // for the body of a loop over a function: the function that contains the loop
}

type kind uint8

const (
	direct kind = iota
	byInterface
	byValue
)

// call is a call of the source.
type call struct {
	offset   int
	kind     kind
	deferred bool
	callee   string           // direct: folded
	args     []typeArg        // direct: the type arguments of a generic function
	method   *types.Func      // byInterface
	iface    *types.Interface // byInterface
	param    int              // byInterface: the caller's type parameter that has the method, from 1; 0: none
	sig      *types.Signature // byValue
}

// reader finds functions and calls in a package's files.
type reader struct {
	pkg  string
	fset *token.FileSet
	info *types.Info
	all  []*fn
	init int                           // number of functions init so far
	once map[types.Object]*ast.FuncLit // variables that always hold one function
	lits map[*ast.FuncLit]string
	late []patch
}

// patch is a call of a function literal that had no name yet.
type patch struct {
	f   *fn
	i   int
	lit *ast.FuncLit
}

// functions returns the functions of a package, including closures.
func functions(pkg string, fset *token.FileSet, info *types.Info, files []*ast.File) []*fn {
	r := &reader{pkg: pkg, fset: fset, info: info, once: map[types.Object]*ast.FuncLit{}, lits: map[*ast.FuncLit]string{}}
	for _, f := range files {
		r.constants(f)
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				r.decl(d)
			}
		}
	}
	// The compiler puts the initialization of package variables into a function of its own.
	vars := &fn{name: pkg + ".init"}
	for _, i := range info.InitOrder {
		r.walk(vars, i.Rhs)
	}
	r.all = append(r.all, vars)
	for _, p := range r.late {
		c := &p.f.calls[p.i]
		if name := r.lits[p.lit]; name != "" {
			c.kind, c.callee = direct, name
			for i := range p.f.args {
				c.args = append(c.args, typeArg{param: i + 1})
			}
		}
	}
	vars.calls = nil
	return r.all
}

// constants finds local variables that always hold one function literal: the compiler treats
// calls of them as direct.
func (r *reader) constants(file *ast.File) {
	changed := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			if obj := r.info.Uses[id]; obj != nil {
				r.once[obj] = nil
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				changed(lhs)
				id, ok := lhs.(*ast.Ident)
				if ok && n.Tok == token.DEFINE && len(n.Lhs) == len(n.Rhs) && r.info.Defs[id] != nil {
					if lit, ok := n.Rhs[i].(*ast.FuncLit); ok {
						r.once[r.info.Defs[id]] = lit
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if e != nil {
					changed(e)
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				changed(n.X)
			}
		}
		return true
	})
}

func (r *reader) decl(d *ast.FuncDecl) {
	obj, ok := r.info.Defs[d.Name].(*types.Func)
	if !ok || d.Name.Name == "_" {
		return
	}
	f := &fn{name: named(r.pkg, obj), sig: obj.Signature(), body: d.Body != nil}
	f.args = f.sig.TypeParams().Len() + f.sig.RecvTypeParams().Len()
	if d.Name.Name == "init" && d.Recv == nil {
		f.name = fmt.Sprintf("%s.init.%d", r.pkg, r.init)
		r.init++
	}
	if f.name == "" {
		return
	}
	r.add(f, d.Name.Pos())
	if d.Body != nil {
		r.walk(f, d.Body)
	}
}

func (r *reader) add(f *fn, at token.Pos) {
	pos := r.fset.Position(at)
	f.file, f.start = pos.Filename, pos.Line
	r.all = append(r.all, f)
}

// closure returns a new closure of f: a function literal, or the body of a loop over a function.
func (r *reader) closure(f *fn, at token.Pos, sig *types.Signature, loop bool) *fn {
	outer := f
	if f.rang != nil {
		outer = f.rang
	}
	c := &fn{outer: outer.name, sig: sig, body: true, lit: true, args: outer.args}
	switch {
	case loop:
		outer.ranges++
		c.name, c.rang = fmt.Sprintf("%s-range%d", outer.name, outer.ranges), outer
	case outer.lit:
		outer.funcs++
		c.name = fmt.Sprintf("%s.%d", outer.name, outer.funcs)
	default:
		outer.funcs++
		c.name = fmt.Sprintf("%s.func%d", outer.name, outer.funcs)
	}
	r.add(c, at)
	return c
}

// walk finds the calls and closures of f below a node.
func (r *reader) walk(f *fn, root ast.Node) {
	special := map[*ast.CallExpr]token.Token{}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			sig, _ := r.info.TypeOf(n).(*types.Signature)
			c := r.closure(f, n.Pos(), sig, false)
			r.lits[n] = c.name
			r.walk(c, n.Body)
			return false
		case *ast.RangeStmt:
			return !r.loop(f, n)
		case *ast.IfStmt:
			return !r.constant(f, n)
		case *ast.DeferStmt:
			special[n.Call] = token.DEFER
		case *ast.GoStmt:
			special[n.Call] = token.GO
		case *ast.CallExpr:
			if special[n] != token.GO { // the first function of a goroutine has no caller
				r.call(f, n, special[n] == token.DEFER)
			}
		}
		return true
	})
}

// loop processes a loop over a function, whose body is a closure. It reports whether n is one.
func (r *reader) loop(f *fn, n *ast.RangeStmt) bool {
	t := r.info.TypeOf(n.X)
	if t == nil {
		return false
	}
	sig, ok := t.Underlying().(*types.Signature)
	if !ok || sig.Params().Len() != 1 {
		return false
	}
	yield, _ := sig.Params().At(0).Type().Underlying().(*types.Signature)
	for _, e := range []ast.Expr{n.Key, n.Value, n.X} {
		if e != nil {
			r.walk(f, e)
		}
	}
	r.target(f, n.X, r.line(n.For)-f.start, false)
	r.walk(r.closure(f, n.For, yield, true), n.Body)
	return true
}

// constant processes an if with a constant condition, whose other branch the compiler does not
// read. It reports whether n is one.
func (r *reader) constant(f *fn, n *ast.IfStmt) bool {
	value, known := r.truth(n.Cond)
	if !known {
		return false
	}
	if n.Init != nil {
		r.walk(f, n.Init)
	}
	if value {
		r.walk(f, n.Body)
	} else if n.Else != nil {
		r.walk(f, n.Else)
	}
	return true
}

// truth returns the value of a constant condition, by the compiler's rules.
func (r *reader) truth(e ast.Expr) (value, known bool) {
	e = ast.Unparen(e)
	if v := r.info.Types[e].Value; v != nil && v.Kind() == constant.Bool {
		return constant.BoolVal(v), true
	}
	switch e := e.(type) {
	case *ast.UnaryExpr:
		value, known = r.truth(e.X)
		return !value, known && e.Op == token.NOT
	case *ast.BinaryExpr:
		if e.Op != token.LAND && e.Op != token.LOR {
			return false, false
		}
		x, known := r.truth(e.X)
		y, knownY := r.truth(e.Y)
		ends := e.Op == token.LOR // the operand that decides alone
		return ends == (known && x == ends || knownY && y == ends), known && (x == ends || knownY) || knownY && y == ends
	}
	return false, false
}

func (r *reader) line(at token.Pos) int { return r.fset.Position(at).Line }

func (r *reader) call(f *fn, n *ast.CallExpr, deferred bool) {
	fun := ast.Unparen(n.Fun)
	if tv := r.info.Types[fun]; tv.IsType() || tv.IsBuiltin() || tv.Type == nil {
		return
	}
	r.target(f, fun, r.line(n.Lparen)-f.start, deferred)
}

// target adds a call of the expression fun.
func (r *reader) target(f *fn, fun ast.Expr, offset int, deferred bool) {
	c := call{offset: offset, deferred: deferred}
	obj := typeutil.Callee(r.info, &ast.CallExpr{Fun: fun})
	switch obj := obj.(type) {
	case *types.Func:
		r.function(&c, fun, obj)
	default:
		lit, _ := fun.(*ast.FuncLit)
		if lit == nil && obj != nil {
			lit = r.once[obj]
		}
		if lit != nil {
			r.late = append(r.late, patch{f, len(f.calls), lit})
		}
		c.kind = byValue
		c.sig, _ = r.info.TypeOf(fun).Underlying().(*types.Signature)
	}
	f.calls = append(f.calls, c)
}

func (r *reader) function(c *call, fun ast.Expr, obj *types.Func) {
	recv := obj.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		c.callee = r.callee(obj.Origin())
		c.args = typeArgs(r.info, fun, obj)
		return
	}
	c.kind, c.method = byInterface, obj
	t := recv.Type()
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if s := r.info.Selections[sel]; s != nil && types.IsInterface(s.Recv()) {
			t = s.Recv()
		}
	}
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		c.param = p.Index() + 1
	}
	c.iface, _ = t.Underlying().(*types.Interface)
}

// callee returns the linker's name of a declared function of any package.
func (r *reader) callee(obj *types.Func) string {
	if obj.Pkg() == nil {
		return ""
	}
	return named(linkPkg(obj.Pkg()), obj)
}
