package verify

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// source is a file, and the function that contains the place.
type source struct {
	src   []byte
	fset  *token.FileSet
	place Place
	info  *types.Info
	scope ast.Node // function declared there, or the declaration
	fn    *ast.FuncDecl
}

// parse finds the function of a place. Types are resolved within the file only.
func parse(src []byte, p Place) (*source, error) {
	s := &source{src: src, fset: token.NewFileSet(), place: p}
	f, err := parser.ParseFile(s.fset, p.File, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", p.File, err)
	}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	c := types.Config{Error: func(error) {}, Importer: nobody{}, FakeImportC: true}
	_, _ = c.Check("", s.fset, []*ast.File{f}, s.info) // names of other files stay unresolved
	for _, d := range f.Decls {
		if !s.has(d, p.Line) {
			continue
		}
		s.scope = d
		if s.fn, _ = d.(*ast.FuncDecl); s.fn != nil && !is(s.fn.Name.Name, p.Func) {
			return nil, fmt.Errorf("line %d is in the function %s, not in %s: the file differs from the one that was built", p.Line, s.fn.Name.Name, p.Func)
		}
		return s, nil
	}
	return nil, fmt.Errorf("line %d of %s is in no function: the file differs from the one that was built", p.Line, filepath.Base(p.File))
}

// nobody is an importer that always fails.
type nobody struct{}

func (nobody) Import(string) (*types.Package, error) { return nil, errors.New("not known here") }

// has reports whether a node includes a line.
func (s *source) has(n ast.Node, line int) bool {
	return s.fset.Position(n.Pos()).Line <= line && line <= s.fset.Position(n.End()).Line
}

// made returns the node that makes the slice, map or channel: a make, an empty literal, or a
// var without a value.
func (s *source) made() (ast.Node, error) {
	here := s.chosen(s.makers(s.scope, func(n ast.Node) bool { return s.line(n) == s.place.Line }))
	switch {
	case len(here) == 1:
		return here[0], nil
	case len(here) > 1:
		return nil, fmt.Errorf("line %d makes several: ambiguous", s.place.Line)
	}
	v, err := s.grown()
	if err != nil {
		return nil, err
	}
	return s.origin(v)
}

// makers returns the nodes that make something of the place's kind.
func (s *source) makers(in ast.Node, at func(ast.Node) bool) (list []ast.Node) {
	address := map[ast.Node]bool{}
	ast.Inspect(in, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND {
			address[u.X] = true // the address of a make can't be taken
		}
		if x, ok := n.(ast.Expr); ok && !address[n] && s.makes(x) && at(n) {
			list = append(list, n)
		}
		return true
	})
	return list
}

// makes reports whether an expression is a make or an empty literal of the place's kind.
func (s *source) makes(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.Ident)
		return ok && f.Name == "make" && s.builtin(f) && len(x.Args) > 0 && s.kind(x.Args[0])
	case *ast.CompositeLit:
		return x.Type != nil && len(x.Elts) == 0 && s.kind(x.Type)
	}
	return false
}

// builtin reports whether a name is the predeclared one.
func (s *source) builtin(f *ast.Ident) bool {
	o := s.info.Uses[f]
	if o == nil {
		return true
	}
	_, ok := o.(*types.Builtin)
	return ok
}

// kind reports whether a type may be of the place's kind. An unresolved type, of another
// file, may be of any.
func (s *source) kind(x ast.Expr) bool {
	switch t := x.(type) {
	case *ast.ArrayType:
		return t.Len == nil && s.place.Kind == sliceKind
	case *ast.MapType:
		return s.place.Kind == mapKind
	case *ast.ChanType:
		return s.place.Kind == chanKind
	case *ast.StructType:
		return false
	}
	t := s.info.Types[x].Type
	if t == nil || t == types.Typ[types.Invalid] {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice:
		return s.place.Kind == sliceKind
	case *types.Map:
		return s.place.Kind == mapKind
	case *types.Chan:
		return s.place.Kind == chanKind
	}
	return false
}

// chosen returns the nodes with the place's type, if there are several and the type is
// known.
func (s *source) chosen(list []ast.Node) []ast.Node {
	if len(list) < 2 || s.place.Type == "" {
		return list
	}
	var of []ast.Node
	for _, n := range list {
		var x ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			x = n.Args[0]
		case *ast.CompositeLit:
			x = n.Type
		}
		if s.typed(x) {
			of = append(of, n)
		}
	}
	return of
}

// typed reports whether a type expression is the place's type, by its words: the runtime has
// main.T where the file has T.
func (s *source) typed(x ast.Expr) bool {
	switch t := x.(type) {
	case *ast.ArrayType:
		x = t.Elt
	case *ast.ChanType:
		x = t.Value
	}
	words := func(t string) string {
		var b strings.Builder
		for part := range strings.FieldsFuncSeq(t, func(r rune) bool { return strings.ContainsRune("[]*(), {}", r) }) {
			b.WriteString(part[strings.LastIndexAny(part, "./")+1:] + " ")
		}
		return b.String()
	}
	return words(s.text(x)) == words(s.place.Type)
}

// grown returns the variable that grows on the line.
func (s *source) grown() (types.Object, error) {
	found := map[types.Object]bool{}
	other := ""
	see := func(x ast.Expr) {
		for {
			if p, ok := x.(*ast.ParenExpr); ok {
				x = p.X
			} else if p, ok := x.(*ast.SliceExpr); ok {
				x = p.X
			} else {
				break
			}
		}
		if id, ok := x.(*ast.Ident); !ok {
			other = s.text(x)
		} else if o := s.info.ObjectOf(id); o != nil {
			found[o] = true
		}
	}
	ast.Inspect(s.scope, func(n ast.Node) bool {
		if n == nil || !s.has(n, s.place.Line) {
			return n == s.scope
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && s.place.Kind == sliceKind && f.Name == "append" && s.builtin(f) && len(n.Args) > 0 && s.line(n) == s.place.Line {
				see(n.Args[0])
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if x, ok := l.(*ast.IndexExpr); ok && s.place.Kind == mapKind && s.line(n) == s.place.Line {
					see(x.X)
				}
			}
		case *ast.IncDecStmt:
			if x, ok := n.X.(*ast.IndexExpr); ok && s.place.Kind == mapKind {
				see(x.X)
			}
		}
		return true
	})
	if len(found) == 1 && other == "" {
		for o := range found {
			return o, nil
		}
	}
	switch {
	case len(found) > 0:
		return nil, fmt.Errorf("several grow on line %d: ambiguous", s.place.Line)
	case other != "":
		return nil, fmt.Errorf("%s grows on line %d, and is not a variable of the function: its make was not found", other, s.place.Line)
	}
	return nil, fmt.Errorf("line %d makes nothing that takes a capacity", s.place.Line)
}

// origin returns the node that makes a variable of the function.
func (s *source) origin(v types.Object) (ast.Node, error) {
	if s.fn == nil || v.Pos() < s.fn.Pos() || v.Pos() > s.fn.End() {
		return nil, fmt.Errorf("%s grows there, and is declared outside of the function", v.Name())
	}
	if v.Pos() < s.fn.Body.Pos() {
		return nil, fmt.Errorf("%s grows there, and is a parameter or a result of the function: set the capacity where it is made", v.Name())
	}
	var made []ast.Node
	var other ast.Node
	set := func(to, x ast.Expr) {
		id, ok := to.(*ast.Ident)
		switch {
		case !ok || s.info.ObjectOf(id) != v:
		case s.makes(x):
			made = append(made, x)
		case !s.itself(x, v):
			other = x
		}
	}
	ast.Inspect(s.fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				set(l, n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.RangeStmt:
			for _, l := range []ast.Expr{n.Key, n.Value} {
				if l != nil {
					set(l, n.X)
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				switch {
				case s.info.Defs[id] != v:
				case len(n.Values) > 0:
					set(id, n.Values[min(i, len(n.Values)-1)])
				case s.place.Kind == mapKind: // a nil map can't grow: it is made elsewhere
				case len(n.Names) > 1:
					other = n
				default:
					made = append(made, n)
				}
			}
		}
		return true
	})
	switch {
	case other != nil:
		return nil, fmt.Errorf("%s grows there, and line %d sets it without a capacity that could be changed", v.Name(), s.line(other))
	case len(made) > 1:
		return nil, fmt.Errorf("%s grows there, and is made on line %d and on line %d: ambiguous", v.Name(), s.line(made[0]), s.line(made[1]))
	case len(made) == 0:
		return nil, fmt.Errorf("%s grows there, and its make was not found", v.Name())
	}
	return made[0], nil
}

// itself reports whether an expression derives from the variable that it is assigned to:
// append, or a part.
func (s *source) itself(x ast.Expr, v types.Object) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return s.info.ObjectOf(x) == v
	case *ast.SliceExpr:
		return s.itself(x.X, v)
	case *ast.ParenExpr:
		return s.itself(x.X, v)
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.Ident)
		return ok && f.Name == "append" && s.builtin(f) && len(x.Args) > 0 && s.itself(x.Args[0], v)
	}
	return false
}
