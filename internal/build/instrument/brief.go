package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// brief returns an upper bound of the cost of a function with everything that it calls, in
// the compiler's units. It is Never if a call may take any time: if there is a loop or a
// wait, or if a callee is not known.
func (p *pkg) brief(fn ast.Node, decl *ast.FuncDecl, body *ast.BlockStmt) int {
	if known, ok := p.briefs[fn]; ok {
		return known
	}
	if body == nil {
		return Never
	}
	p.briefs[fn] = Never // until it is known: a recursive function may recurse any number of times
	b := briefly{p: p, units: min(p.funcCost(fn, decl, body).size, Never)}
	if b.units < Never {
		ast.Inspect(body, b.look)
	}
	p.briefs[fn] = min(b.units, Never)
	return p.briefs[fn]
}

// briefly adds the costs of calls in a body, which are not in its own cost.
type briefly struct {
	p     *pkg
	units int
}

func (b *briefly) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return b.call(n)
	case *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit:
		b.units = Never
	case *ast.BranchStmt:
		if n.Tok == token.GOTO { // there are no loops, so other branches leave a switch
			b.units = Never
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			b.units = Never
		}
	}
	return b.units < Never
}

// call adds the cost of a call, and reports whether to examine its parts.
func (b *briefly) call(e *ast.CallExpr) bool {
	fun := ast.Unparen(e.Fun)
	id, _ := fun.(*ast.Ident)
	switch {
	case id != nil && id.Name == "panic" && b.p.info.Types[fun].IsBuiltin():
		return false // its argument is evaluated once
	case id != nil && slices.Contains(noCalls, id.Name):
		return true
	case id != nil && id.Name == "append" && b.p.info.Types[fun].IsBuiltin() && e.Ellipsis == token.NoPos:
		b.units += callCost // it grows occasionally
		return true
	}
	b.units += b.callee(instantiated(fun))
	return b.units < Never
}

// callee returns the cost of a called function.
func (b *briefly) callee(fun ast.Expr) int {
	var o types.Object
	switch f := fun.(type) {
	case *ast.Ident:
		o = b.p.info.Uses[f]
	case *ast.SelectorExpr:
		if path := b.p.imported(f.X); path != "" {
			if cost, known := standard()[path+"."+f.Sel.Name]; known && cost == 0 {
				return 0 // a machine instruction
			}
			if slices.Contains(strings.Fields(quick[path]), f.Sel.Name) {
				return callCost
			}
			return Never
		}
		sel := b.p.info.Selections[f]
		if sel == nil || sel.Kind() != types.MethodVal || types.IsInterface(sel.Recv()) {
			return Never
		}
		o = sel.Obj()
	}
	if f, ok := o.(*types.Func); ok {
		o = f.Origin()
	}
	decl := b.p.decls[o]
	if decl == nil {
		return Never
	}
	return b.p.brief(decl, decl, decl.Body)
}

// quick are functions of the standard library that take some ten nanoseconds for any
// arguments, by package.
var quick = map[string]string{
	"math": `Abs Ceil Copysign Dim Exp Exp2 Float32bits Float32frombits Float64bits Float64frombits Floor Frexp Hypot
		Inf IsInf IsNaN Ldexp Log Log10 Log2 Max Min Mod Modf NaN Pow Round RoundToEven Signbit Sqrt Trunc`,
	"math/bits": `Add32 Div64 LeadingZeros16 LeadingZeros8 Len16 Mul32 OnesCount16 OnesCount8 Reverse8 Reverse16 Reverse32
		Reverse64 ReverseBytes16 RotateLeft16 RotateLeft8 Sub32`,
	"unicode": `Is In IsControl IsDigit IsGraphic IsLetter IsLower IsMark IsNumber IsOneOf IsPrint IsPunct IsSpace IsSymbol
		IsTitle IsUpper SimpleFold To ToLower ToTitle ToUpper`,
	"unicode/utf16": `AppendRune DecodeRune EncodeRune IsSurrogate RuneLen`,
	"unicode/utf8": `AppendRune DecodeLastRune DecodeLastRuneInString DecodeRune DecodeRuneInString EncodeRune FullRune
		FullRuneInString RuneLen RuneStart ValidRune`,
	"strings": `HasPrefix HasSuffix`,
	"bytes":   `HasPrefix HasSuffix`,
}
