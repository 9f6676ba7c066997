package instrument

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Reasons why functions are left alone.
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

// smallLeaf is what a function may cost to be left alone, with all that it calls, in the
// compiler's units: none of its parts is done twice, so it takes about what its record would.
const smallLeaf = 4 * inlineBudget

// bounded are the directives of functions which an inserted defer is not allowed in, or
// whose frame it must not change.
var bounded = []string{
	"nosplit", "systemstack", "nowritebarrier", "nowritebarrierrec", "yeswritebarrierrec",
	"uintptrescapes", "uintptrkeepalive", "cgo_unsafe_args",
}

// reason says why a function is left alone, and nothing where it is recorded.
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
	if s.decl != nil { // a literal runs where its function does
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
	case cost.size <= smallLeaf && leaf(s.body): // however well its types are known
		return WhySmall
	case p.brief(s.node, s.decl, s.body) <= smallLeaf:
		return WhyBrief
	case p.compares[s.node] && !cost.loops:
		return WhyCompare
	}
	return ""
}

// entry reports whether only the runtime or package testing calls the function: then the
// compiler inlines it nowhere, and it is what its reader looks for first.
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

// noCalls look like calls and are not: what is built in, and conversions of numbers.
var noCalls = []string{
	"len", "cap", "panic", "min", "max", "byte", "rune", "int", "int8", "int16", "int32", "int64",
	"uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "float32", "float64",
}

// leaf reports whether nothing in a body takes time of its own: calls, loops, and what waits.
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
			is = is && n.Tok != token.GOTO // there are no loops, so what it breaks off is a switch
		case *ast.UnaryExpr:
			is = is && n.Op.String() != "<-"
		}
		return is
	})
	return is
}

// addOrders finds the go: directives of a file's functions. As in the compiler, one belongs
// to the next declaration, whatever is between.
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

// addCompares finds the function literals of a file that are given to package sort or slices. A
// binary search calls its own some twenty times for each call of the function around it.
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
