package source

import (
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Reason is the result of checking an edge.
type Reason uint8

// An edge is found, in one of three ways, or lost, or never matched by the compiler, however fresh
// the profile is, or unknown.
const (
	Direct Reason = iota
	Interface
	Value

	CallerGone
	CalleeGone
	NoCall
	OtherCallee

	Inserted
	Deferred
	InlinedClosure
	NoBody
	Promoted
	MethodValue
	ShortGeneric

	NotInBuild
	NotLoaded

	Reasons // number of reasons
)

var reasons = [Reasons]string{
	Direct:         "a direct call",
	Interface:      "a call through an interface",
	Value:          "a call of a func value",
	CallerGone:     "the caller no longer exists",
	CalleeGone:     "the callee no longer exists",
	NoCall:         "no call at that line",
	OtherCallee:    "the calls at that line can't reach the callee",
	Inserted:       "the compiler inserts the call itself",
	Deferred:       "the call is deferred: profiles have it where the function returns",
	InlinedClosure: "a closure of an inlined function, or a wrapper",
	NoBody:         "the caller is not written in Go, or is named by go:linkname",
	Promoted:       "a promoted method: its type alone does not implement the interface",
	MethodValue:    "a method or generic function called as a func value",
	ShortGeneric:   "a generic function whose name lacks its instantiation",
	NotInBuild:     "the package is not in this build",
	NotLoaded:      "the package does not load",
}

func (r Reason) String() string { return reasons[r] }

// Found reports whether the call exists.
func (r Reason) Found() bool { return r <= Value }

// Lost reports whether the source has changed.
func (r Reason) Lost() bool { return r >= CallerGone && r <= OtherCallee }

// Never reports whether the compiler never matches such an edge.
func (r Reason) Never() bool { return r >= Inserted && r <= ShortGeneric }

// Reason returns the result of checking an edge.
func (s *Source) Reason(e pgo.Edge) Reason {
	name := fold(e.Caller)
	pkg, _ := split(name)
	if pkg == "" {
		return NoBody
	}
	u := s.pkgs[pkg]
	switch {
	case u == nil:
		return NotInBuild
	case u.err != nil:
		return NotLoaded
	}
	f := s.funcs[name]
	switch {
	case f == nil && (s.inlined(name) || s.wrapperCalls(e)) || instantiated(e.Caller) > 1:
		return InlinedClosure
	case f == nil || !f.fits(e.Caller):
		return CallerGone
	case !f.body:
		return NoBody
	case strings.Contains(e.Caller, "[...]") || strings.Contains(e.Callee, "[...]"):
		return ShortGeneric
	}
	calls := f.at(e.Offset)
	for _, c := range calls {
		if !c.deferred && s.reaches(c, e.Caller, e.Callee) {
			return [...]Reason{direct: Direct, byInterface: Interface, byValue: Value}[c.kind]
		}
	}
	return s.missing(f, calls, e)
}

// missing returns why none of the calls at an edge's offset in f can reach its callee.
func (s *Source) missing(f *fn, calls []*call, e pgo.Edge) Reason {
	name := fold(e.Callee)
	if s.inlined(name) || instantiated(e.Callee) > 1 || s.callsWrapper(calls, name) {
		return InlinedClosure
	}
	deferred, explicit := f.calling(s, e)
	switch {
	case deferred:
		return Deferred
	case !explicit && runtimes(name):
		return Inserted
	}
	to := s.funcs[name]
	if to == nil || !to.fits(e.Callee) {
		pkg, _ := split(name)
		switch u := s.pkgs[pkg]; {
		case u == nil || u.err == nil:
			return CalleeGone
		case len(calls) > 0:
			return NotLoaded
		}
	}
	if len(calls) == 0 {
		return NoCall
	}
	for _, c := range calls {
		switch {
		case to != nil && sameMethod(c, to) && c.param > 0:
			return MethodValue
		case to != nil && sameMethod(c, to):
			return Promoted
		case to != nil && asValue(c, to):
			return MethodValue
		}
	}
	return OtherCallee
}

// calling reports whether f has calls that can reach an edge's callee on any line: deferred ones,
// and others.
func (f *fn) calling(s *Source, e pgo.Edge) (deferred, others bool) {
	for i := range f.calls {
		if c := &f.calls[i]; s.reaches(c, e.Caller, e.Callee) {
			deferred = deferred || c.deferred
			others = others || !c.deferred
		}
	}
	return deferred, others
}

// asValue reports whether a call of a func value can reach a method or a generic function: the
// numbers of arguments and results are equal; a method expression has the receiver as a further
// argument.
func asValue(c *call, f *fn) bool {
	if c.kind != byValue || c.sig == nil || f.sig == nil || f.sig.Recv() == nil && f.sig.TypeParams().Len() == 0 {
		return false
	}
	more := c.sig.Params().Len() - f.sig.Params().Len()
	return c.sig.Results().Len() == f.sig.Results().Len() && (more == 0 || more == 1 && f.sig.Recv() != nil)
}

// runtimes reports whether compiled code calls a function without a call in the source: for memory,
// maps, strings, comparisons.
func runtimes(name string) bool {
	pkg, _ := split(name)
	return pkg == "" || pkg == "runtime" || strings.HasPrefix(pkg, "internal/runtime/") || pkg == "internal/bytealg"
}

// inlined reports whether the name is that of a wrapper, or of a closure of a function inlined into
// another: main.F.G.func1 is G's in F. The compiler has it as main.G.func1 when it reads the
// profile.
func (s *Source) inlined(name string) bool {
	if wrapperEnd.MatchString(name) {
		return true
	}
	if s.funcs[name] != nil {
		return false
	}
	outer := outermost(name)
	if outer == name || s.funcs[outer] != nil {
		return false
	}
	for i := len(outer) - 1; i > 0 && outer[i] != '/'; i-- {
		if outer[i] == '.' && (s.funcs[outer[:i]] != nil || s.wrapped(outer[:i]) != nil) {
			return true
		}
	}
	return false
}
