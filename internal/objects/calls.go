package objects

import (
	"go/ast"
	"go/token"
	"go/types"
)

// methods lists methods that can wait, by name: for a lock, or for something else.
var methods = map[string]call{
	"Lock":     {lock: true},
	"RLock":    {lock: true},
	"TryLock":  {lock: true}, // it does not wait, but others wait for the lock that it acquires
	"TryRLock": {lock: true},
	"Unlock":   {lock: true}, // when a lock with waiters is released, its holder is recorded here
	"RUnlock":  {lock: true},
	"Do":       {lock: true, other: true}, // a Once has a lock
	"Wait":     {other: true},
}

// canWait reports whether a function contains anything that may wait.
func canWait(body ast.Node) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt, *ast.SelectStmt, *ast.RangeStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.SelectorExpr:
			_, ok := methods[n.Sel.Name]
			found = found || ok
		}
		return !found
	})
	return found
}

// pkg is a package whose calls are searched.
type pkg struct {
	name  string
	fset  *token.FileSet
	types *types.Package
	info  *types.Info
	waits *waits

	in   string // the current function, such as (*client).flush; "": none
	vars map[*types.Var][]ast.Expr
	same map[string]int // how many variables of the function have a name
	many bool           // there is more than one select with several cases
}

// file processes a file.
func (p *pkg) file(f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue // code that runs before main is rarely waited for
		}
		p.in = declared(fn)
		p.variables(fn.Body)
		p.function(fn.Body)
	}
}

// declared returns the linker's name of a function, without its package and its types.
func declared(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := ast.Unparen(fn.Recv.List[0].Type)
	star, pointer := t.(*ast.StarExpr)
	if pointer {
		t = ast.Unparen(star.X)
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	name := ""
	if id, ok := t.(*ast.Ident); ok {
		name = id.Name
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return name + "." + fn.Name.Name
}

// function processes the operations of a function itself. A function literal in it is
// processed separately, since its deferred calls run when it ends.
func (p *pkg) function(body *ast.BlockStmt) {
	var later []call
	ends := []token.Pos{body.Rbrace}
	skip := map[ast.Node]bool{} // operations that are not waits of their own
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			p.function(n.Body)
			return false
		case *ast.ReturnStmt:
			ends = append(ends, n.Pos())
		case *ast.DeferStmt:
			if c, ok := p.method(n.Call); ok {
				later = append(later, c)
			}
			skip[n.Call] = true // it is not called now
		case *ast.GoStmt:
			skip[n.Call] = true
		case *ast.SelectStmt:
			p.selects(n, skip)
		case *ast.CallExpr:
			if c, ok := p.method(n); ok && !skip[n] {
				p.add(c, n.Lparen)
			}
		case *ast.SendStmt:
			if !skip[n] {
				p.channel(n.Chan, n.Pos())
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !skip[n] {
				p.channel(n.X, n.OpPos)
			}
		case *ast.RangeStmt:
			switch t := p.info.TypeOf(n.X); {
			case t == nil || t == types.Typ[types.Invalid]:
				p.add(call{other: true}, n.For) // it may be a channel
			case channel(t):
				p.channel(n.X, n.For)
			}
		}
		return true
	})
	for _, c := range later {
		for _, pos := range ends {
			p.add(c, pos)
		}
	}
}

func channel(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// add records that a call can wait at a position.
func (p *pkg) add(c call, pos token.Pos) {
	c.in = p.in
	at, file := p.fset.Position(pos), p.fset.PositionFor(pos, false).Filename
	if lines := p.waits.files[file]; lines != nil && at.Filename == file {
		lines[at.Line] = append(lines[at.Line], c)
	}
}

// channel records a wait for a channel.
func (p *pkg) channel(x ast.Expr, pos token.Pos) {
	p.add(call{object: p.object(x), other: true}, pos)
}

// selects records the waits of a select, and its cases.
func (p *pkg) selects(s *ast.SelectStmt, cases map[ast.Node]bool) {
	var chans []ast.Expr
	var pos token.Pos
	waits := true
	for _, c := range s.Body.List {
		comm := c.(*ast.CommClause)
		var x ast.Expr
		switch c := comm.Comm.(type) {
		case nil:
			waits = false // it has a default
			continue
		case *ast.SendStmt:
			cases[c] = true
			chans, pos = append(chans, c.Chan), c.Pos()
			continue
		case *ast.ExprStmt:
			x = c.X
		case *ast.AssignStmt:
			x = c.Rhs[0]
		}
		if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok {
			cases[u] = true
			chans, pos = append(chans, u.X), u.Pos()
		}
	}
	switch {
	case !waits || len(chans) == 0:
	case len(chans) == 1:
		p.channel(chans[0], s.Select)
		if p.fset.Position(pos).Line != p.fset.Position(s.Select).Line {
			p.channel(chans[0], pos)
		}
	case p.many:
		p.add(call{other: true}, s.Select)
	default:
		p.add(call{object: "select in " + p.name + "." + p.in, other: true}, s.Select)
	}
}

// method returns what a call of a method can wait for. Methods of types of the package itself
// are ignored: the operations that wait are in them.
func (p *pkg) method(n *ast.CallExpr) (c call, ok bool) {
	fun, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok {
		return c, false
	}
	if c, ok = methods[fun.Sel.Name]; !ok {
		return c, false
	}
	sel := p.info.Selections[fun]
	if sel == nil {
		return c, !p.isPackage(fun.X) // of an unknown type: no name
	}
	fn, ok := sel.Obj().(*types.Func)
	if !ok || sel.Kind() != types.MethodVal {
		return c, false
	}
	if fn.Pkg() == p.types && !types.IsInterface(fn.Signature().Recv().Type()) {
		return c, false
	}
	if fun.Sel.Name == "Do" && len(n.Args) == 1 && !p.initializes(n.Args[0]) {
		return c, true
	}
	c.object = p.receiver(fun.X, sel)
	return c, true
}

// initializes reports whether the function passed to a Once is not one of the methods that
// can wait. If it is, it is unknown which of the two waited.
func (p *pkg) initializes(f ast.Expr) bool {
	sel, ok := ast.Unparen(f).(*ast.SelectorExpr)
	return !ok || methods[sel.Sel.Name] == (call{})
}

func (p *pkg) isPackage(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = p.info.Uses[id].(*types.PkgName)
	return ok
}
