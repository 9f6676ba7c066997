package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// The compiler's numbers (cmd/compile/internal/inline).
const (
	inlineBudget = 80 // what it inlines costs at most this
	callCost     = 57 // of a call that is not inlined, over that of its parts
	paramCall    = 17 // of a call of a parameter
	closureCost  = 15
)

// Never is the cost of a function that is inlined nowhere.
const Never = 1 << 20

// cost estimates what inlining the function would cost.
func (p *pkg) cost(s *site) int { return p.funcCost(s.node, s.decl, s.body) }

func (p *pkg) funcCost(fn ast.Node, decl *ast.FuncDecl, body *ast.BlockStmt) int {
	if cost, ok := p.costs[fn]; ok {
		return cost
	}
	if body == nil {
		return Never
	}
	p.costs[fn] = Never // as long as it is not known: who calls himself is not inlined
	cost := 0
	if fn == ast.Node(decl) {
		for _, d := range p.orders[decl] {
			if d == "noinline" || d != "nosplit" && slices.Contains(bounded, d) {
				cost = Never
			}
		}
	}
	c := coster{p: p, params: map[types.Object]bool{}}
	typ, sig := funcType(fn), 0
	for _, f := range typ.Params.List {
		for _, id := range f.Names {
			c.params[p.info.Defs[id]] = true
			sig++
		}
	}
	if typ.Results != nil {
		for _, f := range typ.Results.List {
			c.results = append(c.results, slices.Repeat([]ast.Expr{f.Type}, max(1, len(f.Names)))...)
		}
	}
	c.stmts(body.List)
	cost = min(cost+c.sum, Never)
	p.costs[fn] = cost
	return cost
}

func funcType(fn ast.Node) *ast.FuncType {
	if lit, ok := fn.(*ast.FuncLit); ok {
		return lit.Type
	}
	return fn.(*ast.FuncDecl).Type
}

// call counts a call, or a conversion.
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
	if lit, ok := fun.(*ast.FuncLit); ok { // called where it is: likely inlined, at a larger budget
		c.sum += 1 + closureCost
		c.sum += min(callCost, c.p.funcCost(lit, nil, lit.Body))
		c.list(e.Args)
		return
	}
	c.sum++
	switch f := instantiated(fun).(type) {
	case *ast.Ident:
		o := c.p.info.Uses[f]
		c.sum++
		switch {
		case c.params[o]:
			c.sum += paramCall
		default:
			c.callee(o)
		}
	case *ast.SelectorExpr:
		c.method(f, e)
	default:
		c.expr(fun)
		c.sum += callCost
	}
	c.args(e)
}

// method counts the call of something behind a dot.
func (c *coster) method(f *ast.SelectorExpr, e *ast.CallExpr) {
	if path := c.p.imported(f.X); path != "" {
		switch cost, known := known[path+"."+f.Sel.Name]; {
		case conversions[path+"."+f.Sel.Name]:
		case known:
			c.sum += 1 + cost
		default:
			c.sum += 1 + callCost
		}
		return
	}
	c.expr(f.X)
	sel := c.p.info.Selections[f]
	if sel == nil { // of another package's type, or one that is not known
		if cost, ok := knownMethods[f.Sel.Name]; ok && len(e.Args) == cost.args {
			c.sum += cost.cost
			return
		}
		c.sum += callCost
		return
	}
	c.sum += len(sel.Index()) - 1
	switch {
	case sel.Kind() == types.FieldVal || types.IsInterface(sel.Recv()):
		c.sum += 1 + callCost
	default:
		if _, pointer := sel.Obj().Type().(*types.Signature).Recv().Type().(*types.Pointer); pointer != isPointer(sel.Recv()) && len(sel.Index()) == 1 {
			c.sum++ // its address is taken, or it is loaded
		}
		c.callee(sel.Obj())
	}
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// callee counts what the called function costs: its body where that is inlined.
func (c *coster) callee(o types.Object) {
	if f, ok := o.(*types.Func); ok {
		o = f.Origin()
	}
	if decl := c.p.decls[o]; decl != nil {
		if cost := c.p.funcCost(decl, decl, decl.Body); cost <= inlineBudget {
			c.sum += cost
			return
		}
	}
	c.sum += callCost
}

// args counts the arguments, and their conversions to interfaces.
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
					c.sum += 2 // the slice of them
				}
				c.converted(sig.Params().At(n-1).Type().(*types.Slice).Elem(), a)
			}
		case i < n:
			c.converted(sig.Params().At(i).Type(), a)
		}
	}
}

// converted counts the conversion of a value to an interface.
func (c *coster) converted(to types.Type, e ast.Expr) {
	from := c.p.info.Types[e]
	if from.Type == nil || from.IsNil() || !types.IsInterface(to) || types.IsInterface(from.Type) || from.Type == types.Typ[types.Invalid] {
		return
	}
	if _, ok := to.(*types.TypeParam); !ok {
		c.sum++
	}
}

// instantiated takes the type arguments off a function's name.
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
