package source

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// typeArg is the type argument of a call for one type parameter of its callee.
type typeArg struct {
	text    string // as in the callee's name; "": unknown
	param   int    // the caller's type parameter that it is, from 1; 0: none
	pointer bool   // all pointers are one here: the constraint has only methods
}

const (
	shapePrefix = "go.shape."
	anyPointer  = shapePrefix + "*uint8"
	maxShape    = 500 // the compiler hashes longer ones

	maxInstances = 1 << 16 // generic functions can call each other without end
)

// typeArgs returns the type arguments of a call for the generic function or type of its
// callee.
func typeArgs(info *types.Info, fun ast.Expr, obj *types.Func) []typeArg {
	params, args := obj.Signature().TypeParams(), (*types.TypeList)(nil)
	if recv := obj.Signature().Recv(); recv != nil {
		if n := receiver(recv.Type()); n != nil {
			params = n.Origin().TypeParams()
		}
		if sel, ok := ast.Unparen(fun).(*ast.SelectorExpr); ok && info.Selections[sel] != nil {
			m, _ := info.Selections[sel].Obj().(*types.Func)
			if n := receiver(m.Signature().Recv().Type()); n != nil {
				args = n.TypeArgs()
			}
		}
	} else if id := instance(fun); id != nil {
		args = info.Instances[id].TypeArgs
	}
	list := make([]typeArg, params.Len())
	for i := range list {
		if i < args.Len() {
			constraint, _ := params.At(i).Constraint().Underlying().(*types.Interface)
			list[i] = shape(args.At(i), constraint != nil && constraint.IsMethodSet())
		}
	}
	return list
}

// receiver returns the defined type of a method with a receiver of type t.
func receiver(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// instance returns the identifier of the function that an expression denotes.
func instance(fun ast.Expr) *ast.Ident {
	switch e := ast.Unparen(fun).(type) {
	case *ast.IndexExpr:
		return instance(e.X)
	case *ast.IndexListExpr:
		return instance(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.Ident:
		return e
	}
	return nil
}

// shape returns the type argument t. The compiler generates one function for all types of the
// same underlying type.
func shape(t types.Type, pointer bool) typeArg {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		return typeArg{param: p.Index() + 1, pointer: pointer}
	}
	if _, ok := t.Underlying().(*types.Pointer); ok && pointer {
		return typeArg{text: anyPointer}
	}
	var w linkText
	w.write(t.Underlying())
	if w.unknown || w.b.Len() > maxShape {
		return typeArg{}
	}
	return typeArg{text: shapePrefix + w.b.String()}
}

// in returns the argument's text if the caller has the given type arguments; "": unknown.
func (a typeArg) in(caller []string) string {
	if a.param == 0 || a.param > len(caller) {
		return a.text
	}
	text := caller[a.param-1]
	if a.pointer && strings.HasPrefix(text, shapePrefix+"*") {
		if strings.LastIndex(text, shapePrefix) > 0 {
			return ""
		}
		return anyPointer
	}
	return text
}

// linkText writes a type as it is in the linker's names.
type linkText struct {
	b       strings.Builder
	unknown bool // it can't be determined
}

func (w *linkText) write(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		w.b.WriteString(types.Typ[t.Kind()].String())
	case *types.Pointer:
		w.b.WriteByte('*')
		w.write(t.Elem())
	case *types.Slice:
		w.b.WriteString("[]")
		w.write(t.Elem())
	case *types.Array:
		fmt.Fprintf(&w.b, "[%d]", t.Len())
		w.write(t.Elem())
	case *types.Map:
		w.b.WriteString("map[")
		w.write(t.Key())
		w.b.WriteByte(']')
		w.write(t.Elem())
	case *types.Chan:
		w.channel(t)
	case *types.Signature:
		w.b.WriteString("func")
		w.signature(t)
	case *types.Struct:
		w.fields(t)
	case *types.Interface:
		w.methods(t)
	case *types.Named:
		w.named(t)
	default: // a type parameter: it depends on the caller
		w.unknown = true
	}
}

func (w *linkText) channel(t *types.Chan) {
	w.b.WriteString([...]string{types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan "}[t.Dir()])
	e, ok := types.Unalias(t.Elem()).(*types.Chan)
	if ok && t.Dir() == types.SendRecv && e.Dir() == types.RecvOnly {
		w.b.WriteByte('(')
		defer w.b.WriteByte(')')
	}
	w.write(t.Elem())
}

func (w *linkText) signature(t *types.Signature) {
	w.tuple(t.Params(), t.Variadic())
	if n := t.Results().Len(); n > 0 {
		w.b.WriteByte(' ')
		if n == 1 {
			w.write(t.Results().At(0).Type())
		} else {
			w.tuple(t.Results(), false)
		}
	}
}

func (w *linkText) tuple(list *types.Tuple, variadic bool) {
	w.b.WriteByte('(')
	for i := range list.Len() {
		if i > 0 {
			w.b.WriteString(", ")
		}
		t := list.At(i).Type()
		if s, ok := t.(*types.Slice); ok && variadic && i == list.Len()-1 {
			w.b.WriteString("...")
			t = s.Elem()
		}
		w.write(t)
	}
	w.b.WriteByte(')')
}

func (w *linkText) fields(t *types.Struct) {
	w.b.WriteString("struct {")
	sep := " "
	for i := range t.NumFields() {
		f := t.Field(i)
		w.b.WriteString(sep)
		sep = "; "
		if f.Embedded() {
			n := receiver(f.Type())
			w.unknown = w.unknown || n == nil || n.Obj().Name() != f.Name() || n.TypeArgs().Len() > 0
		} else {
			w.name(f)
			w.b.WriteByte(' ')
		}
		w.write(f.Type())
		if tag := t.Tag(i); tag != "" {
			w.b.WriteString(" " + strconv.Quote(tag))
		}
	}
	if t.NumFields() > 0 {
		w.b.WriteByte(' ')
	}
	w.b.WriteByte('}')
}

func (w *linkText) methods(t *types.Interface) {
	list := slices.Collect(t.Methods())
	slices.SortFunc(list, func(a, b *types.Func) int { // exported names come first
		return cmp.Or(cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.Pkg().Path(), b.Pkg().Path()))
	})
	w.b.WriteString("interface {")
	sep := " "
	for _, m := range list {
		w.b.WriteString(sep)
		sep = "; "
		if m.Exported() {
			w.b.WriteString(m.Name())
		} else {
			w.name(m)
		}
		w.signature(m.Signature())
	}
	if len(list) > 0 {
		w.b.WriteByte(' ')
	}
	w.b.WriteByte('}')
}

// name writes a name, with its package if it is not exported.
func (w *linkText) name(o types.Object) {
	if !o.Exported() {
		w.b.WriteString(linkPkg(o.Pkg()) + ".")
	}
	w.b.WriteString(o.Name())
}

func (w *linkText) named(t *types.Named) {
	o := t.Obj()
	if o.Pkg() == nil {
		w.b.WriteString(o.Name())
		return
	}
	w.unknown = w.unknown || o.Parent() != o.Pkg().Scope() // the compiler numbers types in functions
	w.b.WriteString(linkPkg(o.Pkg()) + "." + o.Name())
	for i := range t.TypeArgs().Len() {
		w.b.WriteByte("[,"[min(i, 1)])
		w.write(t.TypeArgs().At(i))
	}
	if t.TypeArgs().Len() > 0 {
		w.b.WriteByte(']')
	}
}

// short reports whether a name with these type arguments has only [...] for them.
func short(args []string) bool { return len(args) == 1 && args[0] == "..." }

// fits reports whether f has as many type parameters as its name has arguments.
func (f *fn) fits(name string) bool {
	args := nameArgs(name)
	return short(args) || len(args) == f.args
}

// instances returns the names of generic functions that certainly exist: those called by the
// source's functions, and by these instances.
func (s *Source) instances() map[string]bool {
	found := map[string]bool{}
	var list []string
	calls := func(f *fn, caller string) {
		from := nameArgs(caller)
		for i := range f.calls {
			if name := f.calls[i].name(from); name != "" && !found[name] {
				found[name] = true
				list = append(list, name)
			}
		}
	}
	for name, f := range s.funcs {
		if f.args == 0 {
			calls(f, name)
		}
	}
	for ; len(list) > 0 && len(found) < maxInstances; list = list[1:] {
		for _, f := range s.within(fold(list[0])) {
			calls(f, list[0])
		}
	}
	return found
}

// within returns a function and the closures in it.
func (s *Source) within(name string) []*fn {
	var list []*fn
	if f := s.funcs[name]; f != nil {
		list = append(list, f)
	}
	for _, c := range s.children[name] {
		list = append(list, s.within(c.name)...)
	}
	return list
}

// name returns the callee's name in a direct call of a generic function, if the caller has the
// given type arguments; "" if it is unknown, or not generic.
func (c *call) name(caller []string) string {
	head, tail, generic := strings.Cut(c.callee, "[...]")
	if !generic {
		return ""
	}
	var list []string
	for _, a := range c.args {
		text := a.in(caller)
		if text == "" {
			return ""
		}
		list = append(list, text)
	}
	return head + "[" + strings.Join(list, ",") + "]" + tail
}

// nameArgs returns the type arguments in a function's name.
func nameArgs(name string) []string {
	i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if i < 0 || j <= i {
		return nil
	}
	var list []string
	depth, from := 0, i+1
	for k := from; k < j; k++ {
		switch name[k] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case '"':
			if q, err := strconv.QuotedPrefix(name[k:]); err == nil {
				k += len(q) - 1
			}
		case ',', ';':
			if depth == 0 {
				list = append(list, name[from:k])
				from = k + 1
			}
		}
	}
	return append(list, name[from:j])
}
