package instrument

import (
	"go/ast"
	"go/types"
)

// maxArgs is the maximum number of recorded parameters of a function.
const maxArgs = 8

// params returns the names of a function's recorded parameters: numbers, strings, bools and
// durations. Of other packages' types it recognizes only time.Duration.
func (p *pkg) params(s *site) []string {
	var all []string
	for _, field := range s.typ.Params.List {
		for _, id := range field.Names {
			if id.Name != "_" && len(all) < maxArgs && p.plain(id, field.Type) {
				all = append(all, id.Name)
			}
		}
	}
	return all
}

func (p *pkg) plain(id *ast.Ident, typ ast.Expr) bool {
	if sel, ok := typ.(*ast.SelectorExpr); ok {
		return sel.Sel.Name == "Duration" && p.imported(sel.X) == "time"
	}
	o := p.info.Defs[id]
	if o == nil {
		return false
	}
	if _, ok := types.Unalias(o.Type()).(*types.TypeParam); ok {
		return false
	}
	b, ok := o.Type().Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat|types.IsString|types.IsBoolean) != 0
}

// imported returns the path of the package that an expression names, or "".
func (p *pkg) imported(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		if name, ok := p.info.Uses[id].(*types.PkgName); ok {
			return name.Imported().Path()
		}
	}
	return ""
}
