package verify

import (
	"fmt"
	"go/ast"
	"go/token"
	"strconv"

	"github.com/scopeview/scopeview/internal/advice"
)

// change replaces text.
type change struct {
	from, to int // offsets
	text     string
}

// done applies changes, which must be sorted and not overlap, to the source.
func done(src []byte, list []change) []byte {
	var b []byte
	at := 0
	for _, c := range list {
		b = append(append(b, src[at:c.from]...), c.text...)
		at = c.to
	}
	return append(b, src[at:]...)
}

// apply returns a file with the fix applied to the expression at a place, or to the origin
// of the variable that first grows there. Nothing else changes, and all lines keep their
// numbers. An error is a sentence that explains why it is not possible.
func apply(src []byte, p Place, fix advice.Fix) ([]byte, error) {
	c, err := changeOf(src, p, fix)
	if err != nil {
		return nil, err
	}
	return done(src, []change{c}), nil
}

// changeOf returns the change that apply makes.
func changeOf(src []byte, p Place, fix advice.Fix) (change, error) {
	switch {
	case fix.What == "":
		return change{}, fmt.Errorf("this advice can't be applied automatically: it changes more than one expression")
	case fix.What != "capacity":
		return change{}, fmt.Errorf("unknown kind of fix %q", fix.What)
	case fix.N <= 0:
		return change{}, fmt.Errorf("the advice has no capacity")
	}
	s, err := parse(src, p)
	if err != nil {
		return change{}, err
	}
	at, err := s.made()
	if err != nil {
		return change{}, err
	}
	c, err := s.sized(at, fix.N)
	if err != nil {
		return change{}, fmt.Errorf("line %d: %w", s.line(at), err)
	}
	return c, nil
}

// sized returns the change that gives an expression a capacity.
func (s *source) sized(at ast.Node, n int64) (change, error) {
	switch x := at.(type) {
	case *ast.ValueSpec: // var v []T
		return s.inserted(x.Type.End(), fmt.Sprintf(" = make(%s, %s)", s.text(x.Type), s.arguments(n))), nil
	case *ast.CompositeLit: // []T{}
		if s.line(x) != s.fset.Position(x.End()).Line {
			return change{}, fmt.Errorf("the literal has several lines, and those behind it would move")
		}
		return s.replaced(x.Pos(), x.End(), fmt.Sprintf("make(%s, %s)", s.text(x.Type), s.arguments(n))), nil
	case *ast.CallExpr:
		return s.resized(x, n)
	}
	return change{}, fmt.Errorf("it is made by an unknown expression")
}

// arguments returns the arguments of a make after the type.
func (s *source) arguments(n int64) string {
	if s.place.Kind == mapKind {
		return strconv.FormatInt(n, 10)
	}
	return "0, " + strconv.FormatInt(n, 10)
}

// resized returns the change that gives a make another capacity.
func (s *source) resized(x *ast.CallExpr, n int64) (change, error) {
	size := strconv.FormatInt(n, 10)
	if s.place.Kind != sliceKind {
		if len(x.Args) == 1 {
			return s.inserted(x.Args[0].End(), ", "+size), nil
		}
		return s.replaced(x.Args[1].Pos(), x.Args[1].End(), size), nil
	}
	if len(x.Args) < 2 {
		return change{}, fmt.Errorf("make has no length")
	}
	length, known := constant(x.Args[1])
	switch {
	case known && length > n:
		return change{}, fmt.Errorf("its initial length of %d exceeds the advised capacity", length)
	case known:
	case pure(x.Args[1]):
		size = fmt.Sprintf("max(%s, %d)", s.text(x.Args[1]), n)
	default:
		return change{}, fmt.Errorf("its length is computed, and may exceed the advised capacity")
	}
	if len(x.Args) == 2 {
		return s.inserted(x.Args[1].End(), ", "+size), nil
	}
	return s.replaced(x.Args[2].Pos(), x.Args[2].End(), size), nil
}

// constant returns the value of an integer literal.
func constant(x ast.Expr) (int64, bool) {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.ParseInt(l.Value, 0, 64)
	return n, err == nil
}

// pure reports whether an expression may be evaluated twice: a name, a field, or the length of one.
func pure(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return pure(x.X)
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.Ident)
		return ok && f.Name == "len" && len(x.Args) == 1 && pure(x.Args[0])
	}
	return false
}

func (s *source) inserted(at token.Pos, text string) change { return s.replaced(at, at, text) }

func (s *source) replaced(from, to token.Pos, text string) change {
	return change{s.fset.Position(from).Offset, s.fset.Position(to).Offset, text}
}

func (s *source) text(n ast.Node) string {
	return string(s.src[s.fset.Position(n.Pos()).Offset:s.fset.Position(n.End()).Offset])
}

func (s *source) line(n ast.Node) int { return s.fset.Position(n.Pos()).Line }
