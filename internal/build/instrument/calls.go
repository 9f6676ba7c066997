package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// The compiler's constants (cmd/compile/internal/inline).
const (
	inlineBudget = 80 // maximum cost of an inlined function
	callCost     = 57 // of a call that is not inlined, in addition to its parts
	paramCall    = 17 // of a call of a parameter
	closureCost  = 15
)

// Never is the cost of a function that is never inlined.
const Never = 1 << 20

// cost is the cost of a function, in the compiler's units.
type cost struct {
	size  int  // of its parts; at least Never if one of them prevents inlining
	never bool // a directive prevents inlining
	loops bool // a loop in it waits, or has calls that are not inlined
}

func (c cost) inlined() bool { return !c.never && c.size <= inlineBudget }

// cost estimates the cost of a function.
func (p *pkg) cost(s *site) cost { return p.funcCost(s.node, s.decl, s.body) }

func (p *pkg) funcCost(fn ast.Node, decl *ast.FuncDecl, body *ast.BlockStmt) cost {
	if known, ok := p.costs[fn]; ok {
		return known
	}
	if body == nil {
		return cost{size: Never}
	}
	p.costs[fn] = cost{size: Never} // until it is known: a recursive function is not inlined
	c := coster{p: p, params: map[types.Object]bool{}}
	if fn == ast.Node(decl) {
		for _, d := range p.orders[decl] {
			c.never = c.never || d == "noinline" || d != "nosplit" && slices.Contains(bounded, d)
		}
	}
	typ := funcType(fn)
	for _, f := range typ.Params.List {
		for _, id := range f.Names {
			c.params[p.info.Defs[id]] = true
		}
	}
	if typ.Results != nil {
		for _, f := range typ.Results.List {
			c.results = append(c.results, slices.Repeat([]ast.Expr{f.Type}, max(1, len(f.Names)))...)
		}
	}
	c.stmts(body.List)
	p.costs[fn] = c.cost
	return c.cost
}

func funcType(fn ast.Node) *ast.FuncType {
	if lit, ok := fn.(*ast.FuncLit); ok {
		return lit.Type
	}
	return fn.(*ast.FuncDecl).Type
}

// call adds a call, or a conversion.
func (c *coster) call(e *ast.CallExpr) {
	fun := ast.Unparen(e.Fun)
	tv := c.p.info.Types[fun]
	switch {
	case tv.IsType():
		c.conversion(tv.Type, e)
		return
	case tv.IsBuiltin():
		c.builtin(fun, e)
		return
	}
	if lit, ok := fun.(*ast.FuncLit); ok { // called in place: probably inlined, with a larger budget
		c.size += 1 + closureCost
		c.size += min(callCost, c.p.funcCost(lit, nil, lit.Body).size)
		c.list(e.Args)
		return
	}
	c.size++
	switch f := instantiated(fun).(type) {
	case *ast.Ident:
		o := c.p.info.Uses[f]
		c.size++
		switch {
		case c.params[o]:
			c.size += paramCall
		default:
			c.callee(o)
		}
	case *ast.SelectorExpr:
		c.method(f, e)
	default:
		c.expr(fun)
		c.called()
	}
	c.args(e)
}

// method adds the call of a selector.
func (c *coster) method(f *ast.SelectorExpr, e *ast.CallExpr) {
	if path := c.p.imported(f.X); path != "" {
		switch cost, known := standard()[path+"."+f.Sel.Name]; {
		case conversions[path+"."+f.Sel.Name]:
		case known:
			c.size += 1 + cost
		default:
			c.size++
			c.called()
		}
		return
	}
	c.expr(f.X)
	sel := c.p.info.Selections[f]
	if sel == nil { // of another package's type, or of an unknown one
		if cost, ok := knownMethods[f.Sel.Name]; ok && len(e.Args) == cost.args {
			c.size += cost.cost
			return
		}
		c.called()
		return
	}
	c.size += len(sel.Index()) - 1
	switch {
	case sel.Kind() == types.FieldVal || types.IsInterface(sel.Recv()):
		c.size++
		c.called()
	default:
		if _, pointer := sel.Obj().Type().(*types.Signature).Recv().Type().(*types.Pointer); pointer != isPointer(sel.Recv()) && len(sel.Index()) == 1 {
			c.size++ // for the address, or the load
		}
		c.callee(sel.Obj())
	}
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// callee adds the cost of a called function: its body if that is inlined.
func (c *coster) callee(o types.Object) {
	if f, ok := o.(*types.Func); ok {
		o = f.Origin()
	}
	if decl := c.p.decls[o]; decl != nil {
		if called := c.p.funcCost(decl, decl, decl.Body); called.inlined() {
			c.size += called.size
			c.loops = c.loops || c.depth > 0 && called.loops
			return
		}
	}
	c.called()
}

// called adds a call that is not inlined.
func (c *coster) called() {
	c.size += callCost
	c.loops = c.loops || c.depth > 0
}

// args adds the arguments, and their conversions to interfaces.
func (c *coster) args(e *ast.CallExpr) {
	sig, _ := c.p.info.Types[e.Fun].Type.(*types.Signature)
	for i, a := range e.Args {
		c.expr(a)
		if sig == nil {
			continue
		}
		n := sig.Params().Len()
		switch {
		case sig.Variadic() && i >= n-1:
			if e.Ellipsis == token.NoPos {
				if i == n-1 {
					c.size += 2 // for their slice
				}
				if rest, ok := sig.Params().At(n - 1).Type().(*types.Slice); ok {
					c.converted(rest.Elem(), a)
				}
			}
		case i < n:
			c.converted(sig.Params().At(i).Type(), a)
		}
	}
}

// converted adds the conversion of a value to an interface.
func (c *coster) converted(to types.Type, e ast.Expr) {
	from := c.p.info.Types[e]
	if from.Type == nil || from.IsNil() || !types.IsInterface(to) || types.IsInterface(from.Type) || from.Type == types.Typ[types.Invalid] {
		return
	}
	if _, ok := to.(*types.TypeParam); !ok {
		c.size++
	}
}

// instantiated removes the type arguments from a function's name.
func instantiated(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.IndexExpr:
		if _, ok := x.X.(*ast.Ident); ok {
			return x.X
		}
		if _, ok := x.X.(*ast.SelectorExpr); ok {
			return x.X
		}
	case *ast.IndexListExpr:
		return x.X
	}
	return e
}
