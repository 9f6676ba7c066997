package source

import (
	"go/types"
	"strings"
)

// reaches reports whether a call in caller can call callee, by the compiler's rules. For
// indirect calls these are the rules of its devirtualization.
func (s *Source) reaches(c *call, caller, callee string) bool {
	folded := fold(callee)
	if c.kind == direct {
		return c.callee == folded && c.instantiates(caller, callee)
	}
	f := s.funcs[folded]
	switch {
	case f == nil || f.sig == nil || c.kind == byInterface && !sameMethod(c, f):
		return false
	case c.kind == byInterface:
		return c.dynamic(caller) && implements(c, f)
	}
	return c.sig != nil && f.sig.Recv() == nil && f.sig.TypeParams().Len() == 0 && binding{}.unify(c.sig, f.sig)
}

// instantiates reports whether callee may have the type arguments of a direct call in caller.
func (c *call) instantiates(caller, callee string) bool {
	has := nameArgs(callee)
	if short(has) {
		return true
	}
	if len(has) != len(c.args) {
		return false
	}
	from := nameArgs(caller)
	for i, a := range c.args {
		if text := a.in(from); text != "" && text != "..." && text != has[i] {
			return false
		}
	}
	return true
}

// dynamic reports whether the compiler has a call through an interface here. It calls methods
// of other type arguments as func values.
func (c *call) dynamic(caller string) bool {
	args := nameArgs(caller)
	return c.param == 0 || short(args) || c.param <= len(args) && strings.HasPrefix(args[c.param-1], shapePrefix+"interface {")
}

func sameMethod(c *call, f *fn) bool {
	return c.kind == byInterface && f.sig != nil && f.sig.Recv() != nil && base(f.name) == c.method.Name()
}

// implements reports whether the type of which f is a method implements the call's interface.
// The compiler checks this, and not where the method was found.
func implements(c *call, f *fn) bool {
	recv := f.sig.Recv().Type()
	b := binding{}
	for m := range c.iface.Methods() {
		o, _, _ := types.LookupFieldOrMethod(recv, false, m.Pkg(), m.Name())
		has, ok := o.(*types.Func)
		if !ok || !b.unify(m.Signature(), has.Signature()) {
			return false
		}
	}
	return true
}

// binding maps type parameters to types.
type binding map[*types.TypeParam]types.Type

// unify reports whether two types can be identical for some type arguments. Packages are
// compared by path, because tests have them twice.
func (b binding) unify(x, y types.Type) bool {
	x, y = types.Unalias(x), types.Unalias(y)
	if p, ok := y.(*types.TypeParam); ok && x != y {
		x, y = p, x
	}
	if p, ok := x.(*types.TypeParam); ok && x != y {
		if t := b[p]; t != nil {
			return b.unify(t, y)
		}
		b[p] = y
		return true
	}
	switch x := x.(type) {
	case *types.Pointer:
		y, ok := y.(*types.Pointer)
		return ok && b.unify(x.Elem(), y.Elem())
	case *types.Slice:
		y, ok := y.(*types.Slice)
		return ok && b.unify(x.Elem(), y.Elem())
	case *types.Array:
		y, ok := y.(*types.Array)
		return ok && x.Len() == y.Len() && b.unify(x.Elem(), y.Elem())
	case *types.Chan:
		y, ok := y.(*types.Chan)
		return ok && x.Dir() == y.Dir() && b.unify(x.Elem(), y.Elem())
	case *types.Map:
		y, ok := y.(*types.Map)
		return ok && b.unify(x.Key(), y.Key()) && b.unify(x.Elem(), y.Elem())
	case *types.Signature:
		y, ok := y.(*types.Signature)
		return ok && x.Variadic() == y.Variadic() && b.tuples(x.Params(), y.Params()) && b.tuples(x.Results(), y.Results())
	case *types.Named:
		y, ok := y.(*types.Named)
		return ok && b.named(x, y)
	}
	return types.Identical(x, y)
}

func (b binding) tuples(x, y *types.Tuple) bool {
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if !b.unify(x.At(i).Type(), y.At(i).Type()) {
			return false
		}
	}
	return true
}

func (b binding) named(x, y *types.Named) bool {
	o, p := x.Obj(), y.Obj()
	same := o == p || o.Name() == p.Name() && o.Pkg() != nil && p.Pkg() != nil && o.Pkg().Path() == p.Pkg().Path() &&
		o.Parent() == o.Pkg().Scope() && p.Parent() == p.Pkg().Scope()
	if !same || x.TypeArgs().Len() != y.TypeArgs().Len() {
		return false
	}
	for i := range x.TypeArgs().Len() {
		if !b.unify(x.TypeArgs().At(i), y.TypeArgs().At(i)) {
			return false
		}
	}
	return true
}

// at returns the calls at an offset.
func (f *fn) at(offset int) []*call {
	var list []*call
	for i := range f.calls {
		if f.calls[i].offset == offset {
			list = append(list, &f.calls[i])
		}
	}
	return list
}
