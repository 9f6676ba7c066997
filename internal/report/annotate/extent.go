package annotate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// extent is the range of lines of a function in its source.
type extent struct {
	from, to int
	literal  bool // the enclosing function may share its first and last lines
}

// extents returns the line ranges of all functions of a Go source, closures included. For files
// that are not Go, or can't be parsed, it returns some or none.
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

// around returns the innermost function around a line; ok is false if there is none.
func around(list []extent, line int) (x extent, ok bool) {
	for _, e := range list {
		if e.from <= line && line <= e.to && (!ok || e.to-e.from <= x.to-x.from) {
			x, ok = e, true
		}
	}
	return x, ok
}
