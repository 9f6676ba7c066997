package objects

import (
	"go/ast"
	"go/token"
	"go/types"
)

// object returns the name of the object of an expression, or "" if that is uncertain.
func (p *pkg) object(x ast.Expr) string { return p.named(x, 0) }

// mostSteps limits how often a variable is replaced by another one.
const mostSteps = 8

func (p *pkg) named(x ast.Expr, steps int) string {
	if steps > mostSteps {
		return ""
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return p.variable(x, steps)
	case *ast.StarExpr:
		return p.named(x.X, steps+1)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return p.named(x.X, steps+1)
		}
	case *ast.IndexExpr:
		return p.named(x.X, steps+1) // all elements have one name
	case *ast.SelectorExpr:
		return p.field(x, steps)
	case *ast.CallExpr:
		if fun, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok && fun.Sel.Name == "RLocker" && len(x.Args) == 0 {
			if sel := p.info.Selections[fun]; sel != nil && sel.Obj().Pkg() != p.types {
				return p.receiver(fun.X, sel)
			}
		}
		return p.typeName(p.info.TypeOf(x))
	}
	return ""
}

// receiver returns the name of a method's receiver: x, or a field embedded in it.
func (p *pkg) receiver(x ast.Expr, sel *types.Selection) string {
	path := sel.Index()
	if path = path[:len(path)-1]; len(path) == 0 {
		return p.object(x)
	}
	owner, field := p.walk(sel.Recv(), path)
	if len(path) > 1 && unsure(sel.Recv(), 0) {
		return ""
	}
	return p.join(owner, field, x, sel, 0)
}

// join returns the name of a field of an owner. An unnamed struct has the name of its variable
// or field.
func (p *pkg) join(owner, field string, x ast.Expr, sel *types.Selection, steps int) string {
	if _, ok := types.Unalias(pointed(sel.Recv())).(*types.Struct); ok && owner == "" && len(sel.Index()) <= 2 {
		owner = p.named(x, steps+1)
	}
	if owner == "" || field == "" {
		return ""
	}
	return owner + "." + field
}

// field returns the name of a field, by the type that has it.
func (p *pkg) field(x *ast.SelectorExpr, steps int) string {
	sel := p.info.Selections[x]
	if sel == nil || sel.Kind() != types.FieldVal {
		return "" // of another package
	}
	path := sel.Index()
	owner, field := p.walk(sel.Recv(), path)
	if len(path) > 2 && unsure(sel.Recv(), 0) {
		return ""
	}
	return p.join(owner, field, x.X, sel, steps)
}

// walk follows a path to a field, and returns the names of the type that has it and of the
// field.
func (p *pkg) walk(t types.Type, path []int) (owner, field string) {
	for _, i := range path {
		t = pointed(t)
		s, ok := t.Underlying().(*types.Struct)
		if !ok || i >= s.NumFields() {
			return "", ""
		}
		owner, field = p.typeName(t), s.Field(i).Name()
		t = s.Field(i).Type()
	}
	return owner, field
}

// typeName returns the name of a type of the package, or "" for any other type.
func (p *pkg) typeName(t types.Type) string {
	if t == nil {
		return ""
	}
	n, ok := types.Unalias(pointed(t)).(*types.Named)
	if !ok || n.Obj().Pkg() != p.types || types.IsInterface(n) {
		return ""
	}
	if o := n.Obj(); o.Parent() == p.types.Scope() {
		return p.name + "." + o.Name()
	}
	return "" // of a function; other functions may have a type of that name
}

func pointed(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// unsure reports whether a struct embeds an unknown type, which may have a field of any name
// that takes precedence.
func unsure(t types.Type, depth int) bool {
	s, ok := pointed(t).Underlying().(*types.Struct)
	if !ok || depth > mostSteps {
		return depth > mostSteps
	}
	for f := range s.Fields() {
		if !f.Embedded() {
			continue
		}
		if pointed(f.Type()) == types.Typ[types.Invalid] || unsure(f.Type(), depth+1) {
			return true
		}
	}
	return false
}

// variable returns the name of a variable. A parameter has no name, because the object belongs
// to the caller, and other callers pass other objects.
func (p *pkg) variable(id *ast.Ident, steps int) string {
	v, ok := p.info.Uses[id].(*types.Var)
	if !ok || v.IsField() || v.Pkg() != p.types {
		return ""
	}
	if v.Parent() == p.types.Scope() {
		return p.name + "." + v.Name()
	}
	values, local := p.vars[v]
	if !local {
		return p.typeName(v.Type())
	}
	own := p.name + "." + p.in + "." + v.Name()
	if p.same[v.Name()] > 1 || p.in == "init" { // there may be several
		own = ""
	}
	switch v.Type().Underlying().(type) {
	case *types.Struct, *types.Array:
		return own // it is the object, or contains it
	}
	fresh := 0
	for _, x := range values {
		if p.fresh(x) {
			fresh++
		}
	}
	switch {
	case fresh == len(values) && fresh > 0:
		return own
	case len(values) == 1 && values[0] != nil:
		return p.named(values[0], steps+1)
	}
	return p.typeName(v.Type())
}

// fresh reports whether an expression creates an object that has no other name.
func (p *pkg) fresh(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			_, ok := ast.Unparen(x.X).(*ast.CompositeLit)
			return ok
		}
	case *ast.Ident:
		return p.info.Uses[x] == types.Universe.Lookup("nil")
	case *ast.CallExpr:
		switch f := ast.Unparen(x.Fun).(type) {
		case *ast.Ident:
			b, ok := p.info.Uses[f].(*types.Builtin)
			return ok && (b.Name() == "make" || b.Name() == "new")
		case *ast.SelectorExpr:
			fn, ok := p.info.Uses[f.Sel].(*types.Func)
			return ok && fn.Pkg() != p.types && fn.Name() == "NewCond"
		}
	}
	return false
}

// variables collects the values assigned to the local variables of a function, nil for values
// that are not analyzed. Parameters are not included.
func (p *pkg) variables(body *ast.BlockStmt) {
	p.vars, p.same, p.many = map[*types.Var][]ast.Expr{}, map[string]int{}, false
	selects := 0
	give := func(x, value ast.Expr) {
		id, ok := ast.Unparen(x).(*ast.Ident)
		if !ok {
			return
		}
		if v, ok := p.info.Defs[id].(*types.Var); ok {
			p.vars[v] = append(p.vars[v], value)
			p.same[v.Name()]++
		} else if v, ok := p.info.Uses[id].(*types.Var); ok && p.vars[v] != nil {
			p.vars[v] = append(p.vars[v], value)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					give(x, n.Rhs[i])
				} else {
					give(x, nil)
				}
			}
		case *ast.ValueSpec:
			for i, x := range n.Names {
				if len(n.Names) == len(n.Values) {
					give(x, n.Values[i])
				} else if v, ok := p.info.Defs[x].(*types.Var); ok && len(n.Values) == 0 {
					p.vars[v] = []ast.Expr{} // it is empty
					p.same[v.Name()]++
				} else {
					give(x, nil)
				}
			}
		case *ast.RangeStmt:
			if n.Key != nil {
				give(n.Key, nil)
			}
			if n.Value != nil && elements(p.info.TypeOf(n.X)) {
				give(n.Value, n.X) // all elements have one name
			} else if n.Value != nil {
				give(n.Value, nil)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				if id, ok := ast.Unparen(n.X).(*ast.Ident); ok {
					give(id, nil) // another value may be assigned by its address
				}
			}
		case *ast.SelectStmt:
			if len(n.Body.List) > 1 {
				selects++
			}
		}
		return true
	})
	p.many = selects > 1
}

// elements reports whether values of a type contain elements.
func elements(t types.Type) bool {
	if t == nil {
		return false
	}
	switch pointed(t).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
		return true
	}
	return false
}
