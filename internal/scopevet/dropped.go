package scopevet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// dropped reports the call at cur, which begins t, if nobody gets its result.
func (c *checker) dropped(cur inspector.Cursor, f *types.Func, t thing) {
	for cur.ParentEdgeKind() == edge.ParenExpr_X {
		cur = cur.Parent()
	}
	call, name := cur.Node(), nameOf(f)
	words := things[t]
	end := "()"
	if isNamed(f.Signature().Results().At(0).Type(), "Span") {
		end = ".End()"
	}
	d := analysis.Diagnostic{Pos: call.Pos(), End: call.End()}
	switch edgeKind := cur.ParentEdgeKind(); edgeKind {
	case edge.DeferStmt_Call:
		d.Message = "defer calls " + name + " when the function returns, so " + words.name + " " + words.begin +
			" then and " + words.never + "; add " + end + " behind the call"
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Add " + end, TextEdits: []analysis.TextEdit{insert(call.End(), end)}}}
	case edge.GoStmt_Call:
		d.Message = "go calls " + name + " on another goroutine and drops its result, so " + words.name + " " + words.never
	case edge.ExprStmt_X:
		d.Message = "the result of " + name + " is dropped, so " + words.name + " " + words.never
		if inBody(cur.Parent()) {
			d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Defer the end", TextEdits: []analysis.TextEdit{
				insert(call.Pos(), "defer "), insert(call.End(), end)}}}
		}
	case edge.AssignStmt_Rhs, edge.ValueSpec_Values:
		if !toBlank(cur.Parent().Node(), cur.ParentEdgeIndex()) {
			return
		}
		d.Message = "the result of " + name + " is dropped, so " + words.name + " " + words.never
	default:
		return
	}
	c.Report(d)
}

func nameOf(f *types.Func) string {
	if f.Signature().Recv() != nil {
		return f.Name()
	}
	return f.Pkg().Name() + "." + f.Name()
}

func insert(at token.Pos, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: at, End: at, NewText: []byte(text)}
}

// inBody reports whether a statement stands in a function's body itself: where
// deferring may well be what was meant, as it is not in a loop.
func inBody(stmt inspector.Cursor) bool {
	if stmt.ParentEdgeKind() != edge.BlockStmt_List {
		return false
	}
	k := stmt.Parent().ParentEdgeKind()
	return k == edge.FuncDecl_Body || k == edge.FuncLit_Body
}

// toBlank reports whether the i-th value of an assignment or declaration goes to _.
func toBlank(n ast.Node, i int) bool {
	var to ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		to = n.Lhs[i]
	case *ast.ValueSpec:
		to = n.Names[i]
	}
	id, ok := to.(*ast.Ident)
	return ok && id.Name == "_"
}
