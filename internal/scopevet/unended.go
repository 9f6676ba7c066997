package scopevet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/cfg"
)

// held is a variable of a function that holds ends or Spans.
type held struct {
	v    *types.Var
	defs map[ast.Node]thing // the statements that assign a begun thing to it
	ends map[ast.Node]bool  // the calls that end it
	away bool               // it is used otherwise, and may be ended elsewhere
}

// unended reports the variables of one function that contain something that never ends, or
// that a return leaves open. Variables that are passed on, stored, returned or captured are
// ignored.
func (c *checker) unended(fn inspector.Cursor) {
	for _, h := range c.held(fn) {
		switch {
		case h.away:
		case len(h.ends) == 0:
			for def, t := range h.defs {
				c.ReportRangef(def, "%s that %s holds %s: nothing calls %s", things[t].name, h.v.Name(), things[t].never, endOf(h.v))
			}
		default:
			c.leftOpen(c.graph(fn.Node()), h)
		}
	}
}

// endOf returns the expression that ends the thing in v.
func endOf(v *types.Var) string {
	if isNamed(v.Type(), "Span") {
		return v.Name() + ".End"
	}
	return v.Name()
}

// held returns the function's own variables that contain begun things.
func (c *checker) held(fn inspector.Cursor) []*held {
	var list []*held
	byVar := map[*types.Var]*held{}
	for cur := range fn.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		f, t, ok := c.begun(call)
		if !ok || function(cur.Parent()) != fn.Node() {
			continue
		}
		def, v := c.target(cur, endOfResults(f))
		// A parameter, a result or another function's variable outlives the body.
		if v == nil || v.Pos() < body(fn.Node()).Pos() || v.Pos() >= body(fn.Node()).End() {
			continue
		}
		h := byVar[v]
		if h == nil {
			h = &held{v: v, defs: map[ast.Node]thing{}, ends: map[ast.Node]bool{}}
			byVar[v] = h
			list = append(list, h)
		}
		h.defs[def] = t
	}
	if len(list) == 0 {
		return nil
	}
	for cur := range fn.Preorder((*ast.Ident)(nil)) {
		v, _ := c.TypesInfo.Uses[cur.Node().(*ast.Ident)].(*types.Var)
		if h := byVar[v]; h != nil {
			c.use(h, cur, function(cur.Parent()) == fn.Node())
		}
	}
	return list
}

func body(fn ast.Node) *ast.BlockStmt {
	if d, ok := fn.(*ast.FuncDecl); ok {
		return d.Body
	}
	return fn.(*ast.FuncLit).Body
}

func (c *checker) graph(fn ast.Node) *cfg.CFG {
	graphs := c.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	if d, ok := fn.(*ast.FuncDecl); ok {
		return graphs.FuncDecl(d)
	}
	return graphs.FuncLit(fn.(*ast.FuncLit))
}

// target returns the variable to which result at of the call is assigned, and the statement
// or declaration that assigns it.
func (c *checker) target(call inspector.Cursor, at int) (ast.Node, *types.Var) {
	var to ast.Expr
	i := call.ParentEdgeIndex() + at // a call with several results is the only one
	def := call.Parent().Node()
	switch call.ParentEdgeKind() {
	case edge.AssignStmt_Rhs:
		to = def.(*ast.AssignStmt).Lhs[i]
	case edge.ValueSpec_Values:
		to = def.(*ast.ValueSpec).Names[i]
	}
	id, ok := to.(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil, nil
	}
	v, _ := c.TypesInfo.ObjectOf(id).(*types.Var)
	return def, v
}

// use records what the identifier at cur does with h; own is false in a function inside of
// h's.
func (c *checker) use(h *held, cur inspector.Cursor, own bool) {
	k := cur.ParentEdgeKind()
	parent := cur.Parent()
	switch {
	case own && k == edge.CallExpr_Fun:
		h.ends[parent.Node()] = true
	case own && k == edge.SelectorExpr_X && parent.ParentEdgeKind() == edge.CallExpr_Fun:
		h.ends[parent.Parent().Node()] = true // a Span has no other method
	case own && k == edge.AssignStmt_Lhs:
		// A value from elsewhere may be ended already, or later.
		a := parent.Node().(*ast.AssignStmt)
		if _, ok := h.defs[a]; !ok {
			h.away = true
		}
	case own && k == edge.AssignStmt_Rhs && toBlank(parent.Node(), cur.ParentEdgeIndex()):
	default:
		h.away = true
	}
}
