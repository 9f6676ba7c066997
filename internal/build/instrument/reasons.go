package instrument

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Reasons why functions are not recorded.
const (
	WhyNoBody  = "it has no body in Go"
	WhyBlank   = "nothing can call it"
	WhyCgo     = "its file imports C"
	WhyInlined = "the compiler inlines it"
	WhySmall   = "it is a few instructions"
	WhyBrief   = "it is a few instructions, with all that it calls"
	WhyCompare = "package sort or slices calls it for each comparison"
	WhyLine    = "its line directive can't be repeated within a line"
)

// smallLeaf is the maximum cost, in the compiler's units, of a function that is not
// recorded, with everything that it calls: as none of its parts is repeated, it takes about
// as long as its record.
const smallLeaf = 4 * inlineBudget

// bounded are the directives of functions in which an inserted defer is not allowed, or
// whose frame must not change.
var bounded = []string{
	"nosplit", "systemstack", "nowritebarrier", "nowritebarrierrec", "yeswritebarrierrec",
	"uintptrescapes", "uintptrkeepalive", "cgo_unsafe_args",
}

// reason returns the reason why a function is not recorded, or "".
func (p *pkg) reason(e *edit, s *site, cost cost) string {
	switch {
	case s.body == nil:
		return WhyNoBody
	case importsC(e.ast):
		return WhyCgo
	case s.decl != nil && s.decl.Name.Name == "_":
		return WhyBlank
	case !e.lines.repeatable(e.offset(s)):
		return WhyLine
	}
	if s.decl != nil { // a literal is subject to its function's directives
		for _, d := range p.orders[s.decl] {
			if slices.Contains(bounded, d) {
				return "it is marked go:" + d
			}
		}
	}
	if p.LeaveOut != nil {
		if why, out := p.LeaveOut(s.name); out {
			return why
		}
	}
	switch {
	case p.Small || p.entry(s):
		return ""
	case cost.inlined() && !cost.loops:
		return WhyInlined
	case cost.size <= smallLeaf && leaf(s.body): // even if types are not known
		return WhySmall
	case p.brief(s.node, s.decl, s.body) <= smallLeaf:
		return WhyBrief
	case p.compares[s.node] && !cost.loops:
		return WhyCompare
	}
	return ""
}

// entry reports whether only the runtime or package testing calls the function: then the
// compiler never inlines it, and readers look for it first.
func (p *pkg) entry(s *site) bool {
	if s.decl == nil || s.node != ast.Node(s.decl) || s.decl.Recv != nil {
		return false
	}
	name := s.decl.Name.Name
	if p.Tests {
		for _, kind := range []string{"Test", "Benchmark", "Example", "Fuzz"} {
			if strings.HasPrefix(name, kind) {
				return true
			}
		}
	}
	return name == "init" || name == "main" && p.Name == "main"
}

func importsC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// noCalls look like calls but are not: builtins, and conversions of numbers.
var noCalls = []string{
	"len", "cap", "panic", "min", "max", "byte", "rune", "int", "int8", "int16", "int32", "int64",
	"uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "float32", "float64",
}

// leaf reports whether a body has no calls, loops or waits.
func leaf(body *ast.BlockStmt) bool {
	is := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); !ok || !slices.Contains(noCalls, id.Name) {
				is = false
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit:
			is = false
		case *ast.BranchStmt:
			is = is && n.Tok != token.GOTO // there are no loops, so other branches leave a switch
		case *ast.UnaryExpr:
			is = is && n.Op.String() != "<-"
		}
		return is
	})
	return is
}

// addOrders finds the go: directives of a file's functions. As in the compiler, a directive
// belongs to the next declaration, whatever is in between.
func (p *pkg) addOrders(f *ast.File) {
	from := f.Name.End()
	comments := f.Comments
	for _, d := range f.Decls {
		fn, _ := d.(*ast.FuncDecl)
		begin := d.Pos()
		if fn != nil {
			begin = fn.Type.Pos()
		}
		for len(comments) > 0 && comments[0].Pos() < begin {
			for _, c := range comments[0].List {
				if text, ok := strings.CutPrefix(c.Text, "//go:"); ok && fn != nil && c.Pos() > from {
					word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
					p.orders[fn] = append(p.orders[fn], word)
				}
			}
			comments = comments[1:]
		}
		from = d.End()
	}
}

// addCompares finds the function literals of a file that are passed to package sort or
// slices. A binary search calls its function some twenty times per call of the enclosing
// function.
func (p *pkg) addCompares(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun, ok := instantiated(ast.Unparen(call.Fun)).(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if from := p.imported(fun.X); from == "sort" || from == "slices" {
			for _, a := range call.Args {
				if lit, ok := ast.Unparen(a).(*ast.FuncLit); ok {
					p.compares[lit] = true
				}
			}
		}
		return true
	})
}
