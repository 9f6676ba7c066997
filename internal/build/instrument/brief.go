package instrument

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// brief is what a function costs at most, in the compiler's units, with all that it calls. It is
// Never where a call may take any time: there is a loop, something waits, or it is not known what
// is called.
func (p *pkg) brief(fn ast.Node, decl *ast.FuncDecl, body *ast.BlockStmt) int {
	if known, ok := p.briefs[fn]; ok {
		return known
	}
	if body == nil {
		return Never
	}
	p.briefs[fn] = Never // as long as it is not known: who calls himself may do so any number of times
	b := briefly{p: p, units: min(p.funcCost(fn, decl, body).size, Never)}
	if b.units < Never {
		ast.Inspect(body, b.look)
	}
	p.briefs[fn] = min(b.units, Never)
	return p.briefs[fn]
}

// briefly adds up what the parts of a body cost that are not in its own cost.
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
		if n.Tok == token.GOTO { // there are no loops, so what another one breaks off is a switch
			b.units = Never
		}
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			b.units = Never
		}
	}
	return b.units < Never
}

// call adds what a call costs, and reports whether its parts are to be looked at.
func (b *briefly) call(e *ast.CallExpr) bool {
	fun := ast.Unparen(e.Fun)
	id, _ := fun.(*ast.Ident)
	switch {
	case id != nil && id.Name == "panic" && b.p.info.Types[fun].IsBuiltin():
		return false // what it is given is made once
	case id != nil && slices.Contains(noCalls, id.Name):
		return true
	case id != nil && id.Name == "append" && b.p.info.Types[fun].IsBuiltin() && e.Ellipsis == token.NoPos:
		b.units += callCost // it grows now and then
		return true
	}
	b.units += b.callee(instantiated(fun))
	return b.units < Never
}

// callee is what the function that is called costs.
func (b *briefly) callee(fun ast.Expr) int {
	var o types.Object
	switch f := fun.(type) {
	case *ast.Ident:
		o = b.p.info.Uses[f]
	case *ast.SelectorExpr:
		if path := b.p.imported(f.X); path != "" {
			if cost, known := standard()[path+"."+f.Sel.Name]; known && cost == 0 {
				return 0 // an instruction of the processor
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

// quick are functions of the standard library that take some ten nanoseconds whatever they are given,
// by package.
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
