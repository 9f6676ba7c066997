package scopevet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// dropped reports the call at cur, which begins t, if its result is dropped, or if the
// result is called at once.
func (c *checker) dropped(cur inspector.Cursor, f *types.Func, t thing) {
	for cur.ParentEdgeKind() == edge.ParenExpr_X {
		cur = cur.Parent()
	}
	call, name := cur.Node(), nameOf(f)
	words := things[t]
	at := endOfResults(f)
	end := "()"
	if isNamed(f.Signature().Results().At(at).Type(), "Span") {
		end = ".End()"
	}
	d := analysis.Diagnostic{Pos: call.Pos(), End: call.End()}
	switch edgeKind := cur.ParentEdgeKind(); {
	case at > 0: // several results: an end cannot be appended to the call
		if !c.dropsSpan(cur, at) {
			return
		}
		d.Message = "the span of " + name + " is dropped, so " + words.name + " " + words.never
	case edgeKind == edge.DeferStmt_Call:
		d.Message = "defer calls " + name + " when the function returns, so " + words.name + " " + words.begin +
			" then and " + words.never + "; add " + end + " behind the call"
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Add " + end, TextEdits: []analysis.TextEdit{insert(call.End(), end)}}}
	case edgeKind == edge.GoStmt_Call:
		d.Message = "go calls " + name + " on another goroutine and drops its result, so " + words.name + " " + words.never
	case edgeKind == edge.ExprStmt_X:
		d.Message = "the result of " + name + " is dropped, so " + words.name + " " + words.never
		if inBody(cur.Parent()) {
			d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Defer the end", TextEdits: []analysis.TextEdit{
				insert(call.Pos(), "defer "), insert(call.End(), end)}}}
		}
	case edgeKind == edge.CallExpr_Fun || edgeKind == edge.SelectorExpr_X:
		if !isScope(f.Pkg()) || !c.endedAtOnce(cur, name, t, &d) { // other functions may do more than begin
			return
		}
	case edgeKind == edge.AssignStmt_Rhs || edgeKind == edge.ValueSpec_Values:
		if !toBlank(cur.Parent().Node(), cur.ParentEdgeIndex()) {
			return
		}
		d.Message = "the result of " + name + " is dropped, so " + words.name + " " + words.never
	default:
		return
	}
	c.Report(d)
}

// dropsSpan reports whether result at of the call at cur is dropped.
func (c *checker) dropsSpan(cur inspector.Cursor, at int) bool {
	switch cur.ParentEdgeKind() {
	case edge.DeferStmt_Call, edge.GoStmt_Call, edge.ExprStmt_X:
		return true
	case edge.AssignStmt_Rhs, edge.ValueSpec_Values:
		return toBlank(cur.Parent().Node(), at)
	}
	return false
}

// endedAtOnce fills d with the report on the call at cur, which begins t, if a statement
// calls its result without defer. It is allowed for a lock, to wait for others, and in tests
// and benchmarks, which measure an empty scope.
func (c *checker) endedAtOnce(cur inspector.Cursor, name string, t thing, d *analysis.Diagnostic) bool {
	if t == aLock || strings.HasSuffix(c.Fset.Position(cur.Node().Pos()).Filename, "_test.go") {
		return false
	}
	ending := cur.Parent()
	if cur.ParentEdgeKind() == edge.SelectorExpr_X { // scope.Begin("a").End()
		if ending.ParentEdgeKind() != edge.CallExpr_Fun {
			return false
		}
		ending = ending.Parent()
	}
	words := things[t]
	switch ending.ParentEdgeKind() {
	case edge.GoStmt_Call:
		d.Message = "go ends what " + name + " begins on another goroutine at once, so " + words.name + " has nothing in it"
	case edge.ExprStmt_X:
		d.Message = "what " + name + " begins ends at once, so " + words.name + " has nothing in it; add defer before it"
		if inBody(ending.Parent()) {
			d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Defer the end", TextEdits: []analysis.TextEdit{insert(ending.Node().Pos(), "defer ")}}}
		}
	default:
		return false
	}
	return true
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

// inBody reports whether a statement is directly in a function's body, where defer may have
// been intended, unlike in a loop.
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
