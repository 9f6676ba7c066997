package source

import (
	"go/types"
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
)

// wrapped returns the method that the function with a folded name wraps, or nil if it is not a
// wrapper. The compiler generates wrappers so that a method can be called by another type than its
// own: by a pointer, by a type that embeds its type, or by an interface as a func value. The source
// has none, and profiles of samplers outside the program have many.
func (s *Source) wrapped(name string) *types.Func {
	pkg, rest := split(name)
	dot := strings.LastIndexByte(rest, '.')
	u := s.pkgs[pkg]
	if dot < 0 || u == nil || u.types == nil || s.funcs[name] != nil {
		return nil
	}
	typ, of := strings.TrimSuffix(strings.TrimPrefix(rest[:dot], "(*"), ")"), rest[dot+1:]
	for _, t := range typesNamed(u.types.Scope(), strings.TrimSuffix(typ, "[...]")) {
		if strings.HasPrefix(rest, "(*") {
			t = types.NewPointer(t)
		}
		set := types.NewMethodSet(t)
		for i := range set.Len() {
			if m, ok := set.At(i).Obj().(*types.Func); ok && m.Name() == of {
				return m
			}
		}
	}
	return nil
}

// typesNamed returns the types that the linker has under a name: T, or T·1 for types in functions.
func typesNamed(scope *types.Scope, name string) (list []types.Type) {
	name, _, local := strings.Cut(name, "·")
	if obj, ok := scope.Lookup(name).(*types.TypeName); ok {
		list = append(list, obj.Type())
	}
	if local {
		for i := range scope.NumChildren() {
			list = append(list, typesNamed(scope.Child(i), name+"·")...)
		}
	}
	return list
}

// wrapperCalls reports whether an edge is a wrapper's call of its method, or of a function that the
// compiler inserts there.
func (s *Source) wrapperCalls(e pgo.Edge) bool {
	caller, callee := fold(e.Caller), fold(e.Callee)
	m := s.wrapped(caller)
	return m != nil && e.Offset == 0 && (base(callee) == m.Name() || runtimes(callee))
}

// callsWrapper reports whether calls at a line reach a method through its wrapper, which is the
// callee of the edge: a direct call would not.
func (s *Source) callsWrapper(calls []*call, callee string) bool {
	m := s.wrapped(callee)
	if m == nil {
		return false
	}
	for _, c := range calls {
		switch {
		case c.deferred:
		case c.kind == byInterface && c.method.Name() == m.Name():
			return true
		case c.kind == byValue:
			return true
		}
	}
	return false
}

// instantiated counts the parts of a name that have type arguments: closures of generic functions
// that are inlined into others have several.
func instantiated(name string) (n int) {
	depth := 0
	for _, c := range []byte(name) {
		switch c {
		case '[':
			if depth == 0 {
				n++
			}
			depth++
		case ']':
			depth--
		}
	}
	return n
}
