package annotate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// extent is the lines of a function in its source.
type extent struct {
	from, to int
	literal  bool // its first and last lines are of the function around it too
}

// extents returns the lines of all functions of a Go source, those of closures too. Of what
// is no Go, or can't be parsed, there are none, or some.
func extents(lines []string) (list []extent) {
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, "", strings.Join(lines, "\n"), parser.SkipObjectResolution)
	if f == nil {
		return nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		_, literal := n.(*ast.FuncLit)
		if _, decl := n.(*ast.FuncDecl); decl || literal {
			list = append(list, extent{fset.PositionFor(n.Pos(), false).Line, fset.PositionFor(n.End(), false).Line, literal})
		}
		return true
	})
	return list
}

// around returns the innermost function around a line; ok is false where there is none.
func around(list []extent, line int) (x extent, ok bool) {
	for _, e := range list {
		if e.from <= line && line <= e.to && (!ok || e.to-e.from <= x.to-x.from) {
			x, ok = e, true
		}
	}
	return x, ok
}
