package source

import (
	"go/types"
	"strings"
)

// reaches reports whether a call can call the function of that name as far as the compiler
// looks. For calls that are not direct these are the rules of its devirtualization.
func (s *Source) reaches(c *call, callee string) bool {
	folded := fold(callee)
	switch c.kind {
	case direct:
		return c.callee == folded && (c.args == "" || folded == callee || strings.Contains(callee, c.args) || strings.Contains(callee, "[...]"))
	case byInterface:
		f := s.funcs[folded]
		return f != nil && sameMethod(c, f) && implements(c, f)
	}
	f := s.funcs[folded]
	return f != nil && f.sig != nil && c.sig != nil && f.sig.Recv() == nil && types.Identical(f.sig, c.sig)
}

func sameMethod(c *call, f *fn) bool {
	return c.kind == byInterface && f.sig != nil && f.sig.Recv() != nil && base(f.name) == c.method.Name()
}

// implements reports whether the type whose method f is has all that the call's interface
// asks for. The compiler asks this, and not where the method was found.
func implements(c *call, f *fn) bool {
	recv := f.sig.Recv().Type()
	return c.iface == nil || f.sig.RecvTypeParams().Len() > 0 || types.Implements(recv, c.iface)
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
