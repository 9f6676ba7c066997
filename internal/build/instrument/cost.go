package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
)

// coster adds up the costs of a function body's parts: as in the compiler, one for each node
// of the syntax tree, and more for some. Constants are one node.
type coster struct {
	cost
	p       *pkg
	depth   int                   // of loops
	params  map[types.Object]bool // parameters of the function
	results []ast.Expr            // types of the results
}

func (c *coster) stmts(list []ast.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *coster) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.BlockStmt:
		if s != nil {
			c.stmts(s.List)
		}
	case *ast.ExprStmt:
		c.expr(s.X)
	case *ast.ReturnStmt:
		c.size++
		c.list(s.Results)
		if len(s.Results) == len(c.results) {
			for i, e := range s.Results {
				if to := c.p.info.Types[c.results[i]].Type; to != nil {
					c.converted(to, e)
				}
			}
		}
	case *ast.AssignStmt:
		c.assign(s)
	case *ast.IncDecStmt:
		c.size += 2
		c.expr(s.X)
	case *ast.DeclStmt:
		c.decl(s.Decl.(*ast.GenDecl))
	case *ast.IfStmt:
		c.ifStmt(s)
	case *ast.ForStmt:
		c.size++
		c.stmt(s.Init)
		c.expr(s.Cond)
		c.depth++
		c.stmt(s.Post)
		c.stmt(s.Body)
		c.depth--
	case *ast.RangeStmt:
		c.rangeStmt(s)
	case *ast.SwitchStmt:
		c.size++
		c.stmt(s.Init)
		c.expr(s.Tag)
		for _, cc := range s.Body.List {
			cc := cc.(*ast.CaseClause)
			c.size++
			c.list(cc.List)
			c.stmts(cc.Body)
		}
	case *ast.TypeSwitchStmt:
		c.typeSwitch(s)
	case *ast.SelectStmt:
		c.size++
		c.waits()
		for _, cc := range s.Body.List {
			cc := cc.(*ast.CommClause)
			c.size++
			c.stmt(cc.Comm)
			c.stmts(cc.Body)
		}
	case *ast.LabeledStmt:
		c.size++
		c.stmt(s.Stmt)
	case *ast.BranchStmt:
		if s.Tok != token.FALLTHROUGH {
			c.size++
		}
	case *ast.SendStmt:
		c.size++
		c.waits()
		c.expr(s.Chan)
		c.expr(s.Value)
	case *ast.GoStmt, *ast.DeferStmt:
		c.size += Never
	}
}

// waits marks a possible wait for another goroutine.
func (c *coster) waits() { c.loops = c.loops || c.depth > 0 }

// ifStmt adds an if statement. With a constant condition only one branch remains, and the
// statement itself costs nothing.
func (c *coster) ifStmt(s *ast.IfStmt) {
	c.stmt(s.Init)
	if v := c.p.info.Types[s.Cond].Value; v != nil {
		if v.String() == "true" {
			c.stmt(s.Body)
		} else {
			c.stmt(s.Else)
		}
		return
	}
	c.size++
	c.expr(s.Cond)
	c.stmt(s.Body)
	c.stmt(s.Else)
}

func (c *coster) assign(s *ast.AssignStmt) {
	c.size++
	c.list(s.Lhs)
	c.list(s.Rhs)
	if s.Tok == token.DEFINE {
		for _, e := range s.Lhs {
			if id, ok := e.(*ast.Ident); ok && id.Name != "_" && c.p.info.Defs[id] != nil {
				c.size += 2 // for its declaration
			}
		}
	}
	if s.Tok == token.ASSIGN && len(s.Lhs) == len(s.Rhs) {
		for i, e := range s.Rhs {
			if to := c.p.info.Types[s.Lhs[i]].Type; to != nil {
				c.converted(to, e)
			}
		}
	}
}

func (c *coster) decl(d *ast.GenDecl) {
	if d.Tok != token.VAR {
		return
	}
	for _, s := range d.Specs {
		s := s.(*ast.ValueSpec)
		c.list(s.Values)
		switch {
		case len(s.Values) == 0:
			c.size += 4 * len(s.Names)
		default:
			c.size += len(s.Values) + 3*len(s.Names)
		}
	}
}

func (c *coster) rangeStmt(s *ast.RangeStmt) {
	c.size++
	if t := c.p.info.Types[s.X].Type; t != nil {
		switch t.Underlying().(type) {
		case *types.Chan:
			c.loops = true
		case *types.Signature:
			c.size += callCost + closureCost
		}
	}
	for _, e := range []ast.Expr{s.Key, s.Value} {
		if e == nil {
			continue
		}
		c.expr(e)
		if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE && id.Name != "_" {
			c.size += 2
		}
	}
	c.expr(s.X)
	c.depth++
	c.stmt(s.Body)
	c.depth--
}

func (c *coster) typeSwitch(s *ast.TypeSwitchStmt) {
	c.size += 2 // and its guard
	c.stmt(s.Init)
	bound := 0
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		c.expr(a.X.(*ast.TypeAssertExpr).X)
	case *ast.AssignStmt:
		c.expr(a.Rhs[0].(*ast.TypeAssertExpr).X)
		bound = 3
	}
	for _, cc := range s.Body.List {
		cc := cc.(*ast.CaseClause)
		c.size += 1 + len(cc.List) + bound
		c.stmts(cc.Body)
	}
}

func (c *coster) list(list []ast.Expr) {
	for _, e := range list {
		c.expr(e)
	}
}

func (c *coster) expr(e ast.Expr) {
	if e == nil {
		return
	}
	tv := c.p.info.Types[e]
	if tv.Value != nil || tv.IsNil() {
		c.size++
		return
	}
	if tv.IsType() {
		return
	}
	switch e := e.(type) {
	case *ast.Ident, *ast.BasicLit:
		c.size++
	case *ast.ParenExpr:
		c.expr(e.X)
	case *ast.SelectorExpr:
		c.selector(e)
	case *ast.StarExpr:
		c.size++
		c.expr(e.X)
	case *ast.UnaryExpr:
		c.size++
		if e.Op == token.ARROW {
			c.waits()
		}
		c.expr(e.X)
	case *ast.BinaryExpr:
		c.size++
		c.expr(e.X)
		c.expr(e.Y)
		if e.Op == token.ADD && isString(tv.Type) {
			if x, ok := ast.Unparen(e.X).(*ast.BinaryExpr); ok && x.Op == token.ADD && c.p.info.Types[x].Value == nil {
				c.size-- // a chain of concatenations is one node
			}
		}
	case *ast.IndexExpr:
		if c.p.info.Types[e.Index].IsType() {
			c.expr(e.X)
			return
		}
		c.size++
		c.expr(e.X)
		c.expr(e.Index)
	case *ast.SliceExpr:
		c.slice(e)
	case *ast.TypeAssertExpr:
		c.size++
		c.expr(e.X)
	case *ast.CallExpr:
		c.call(e)
	case *ast.FuncLit:
		c.size += 1 + closureCost
	case *ast.CompositeLit:
		c.composite(e)
	case *ast.KeyValueExpr:
		c.size++
		c.expr(e.Key)
		c.expr(e.Value)
	}
}

func isString(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func (c *coster) selector(e *ast.SelectorExpr) {
	c.size++
	if c.p.imported(e.X) != "" {
		return
	}
	sel := c.p.info.Selections[e]
	if sel != nil {
		c.size += len(sel.Index()) - 1
		if sel.Kind() == types.MethodVal {
			c.size++
		}
	}
	c.expr(e.X)
}

func (c *coster) slice(e *ast.SliceExpr) {
	c.size++
	c.expr(e.X)
	for _, x := range []ast.Expr{e.Low, e.High, e.Max} {
		c.expr(x)
	}
	if e.Low != nil {
		if v := c.p.info.Types[e.Low].Value; v != nil && v.String() == "0" {
			c.size--
		}
	}
}

func (c *coster) composite(e *ast.CompositeLit) {
	c.size++
	t := c.p.info.Types[e].Type
	if t != nil {
		switch t.Underlying().(type) {
		case *types.Slice:
			c.size++
		case *types.Struct:
			for _, x := range e.Elts {
				c.size++ // for its key
				if kv, ok := x.(*ast.KeyValueExpr); ok {
					x = kv.Value
				}
				c.expr(x)
			}
			return
		}
	}
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			if _, field := kv.Key.(*ast.Ident); field && c.p.info.Types[kv.Key].Type == nil {
				c.size++
				c.expr(kv.Value)
				continue
			}
		}
		c.expr(x)
	}
}

// conversion adds a conversion: one between types with the same underlying type costs
// nothing.
func (c *coster) conversion(to types.Type, e *ast.CallExpr) {
	c.list(e.Args)
	if len(e.Args) != 1 {
		return
	}
	from := c.p.info.Types[e.Args[0]].Type
	if from == nil || !types.Identical(from.Underlying(), to.Underlying()) {
		c.size++
	}
}

func (c *coster) builtin(fun ast.Expr, e *ast.CallExpr) {
	name := ""
	switch f := fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	c.size++
	switch name {
	case "recover":
		c.size += Never
	case "panic":
		c.size++
	}
	c.list(e.Args)
}
