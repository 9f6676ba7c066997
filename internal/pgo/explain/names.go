package explain

import (
	"net/url"
	"strings"
)

// split splits the linker's name of a function into the package's path, which is "main" of all
// commands, and the name in the package.
func split(name string) (path, local string) {
	end := len(name)
	if i := strings.IndexByte(name, '['); i >= 0 {
		end = i // type arguments have paths too
	}
	start := strings.LastIndexByte(name[:end], '/') + 1
	dot := strings.IndexByte(name[start:end], '.')
	if dot < 0 {
		return "", name
	}
	path, err := url.PathUnescape(name[:start+dot])
	if err != nil {
		return "", name
	}
	return path, name[start+dot+1:]
}

// collapse writes [...] for type arguments, as profiles before Go 1.21 and execution traces do.
func collapse(name string) string {
	from := strings.IndexByte(name, '[')
	if from < 0 {
		return name
	}
	var b strings.Builder
	depth := 0
	for i, c := range name {
		switch {
		case c == '[':
			if depth == 0 {
				b.WriteString("[...]")
			}
			depth++
		case c == ']' && depth > 0:
			depth--
		case depth == 0:
			b.WriteString(name[i : i+len(string(c))])
		}
	}
	return b.String()
}

// unqualified returns a name of -m without its package: F of p.F. Of a name without a package
// that is a method, T.M, it returns M: both are to be tried.
func unqualified(name string) string {
	if strings.HasPrefix(name, `"`) {
		_, name, _ = strings.Cut(name[1:], `"`)
	}
	_, rest, ok := strings.Cut(name, ".")
	if !ok || strings.HasPrefix(name, "(") {
		return name
	}
	return rest
}

// spelled returns how -m writes a function: by its name alone in its package, else with the
// package's name, or its path where two have that name. They are without type arguments.
func spelled(path, pkgName, local string, own bool) []string {
	local = collapse(local)
	if own {
		return []string{local}
	}
	return []string{pkgName + "." + local, `"` + path + `".` + local}
}

// called returns how the compiler writes what a call calls directly: as in spelled, but a
// method of a pointer is (*p.T).M.
func called(path, pkgName, local string, own bool) []string {
	list := spelled(path, pkgName, local, own)
	method, pointer := strings.CutPrefix(collapse(local), "(*")
	if !pointer || own {
		return list
	}
	return []string{"(*" + pkgName + "." + method, "(*\"" + path + "\"." + method}
}

// callee returns what a call calls, as the compiler writes it: (*p.T).M of (*p.T).M(t, 1).
func callee(call string) string {
	call = collapse(call)
	at := 0
	if strings.HasPrefix(call, "(") {
		at = strings.IndexByte(call, ')') + 1
	}
	if i := strings.IndexByte(call[at:], '('); i >= 0 {
		return call[:at+i]
	}
	return call
}

// isClosure reports whether a function is a literal in another one.
func isClosure(local string) bool {
	i := strings.LastIndex(local, ".func")
	return i >= 0 && i+5 < len(local) && local[i+5] >= '0' && local[i+5] <= '9'
}

// wrapped returns the function that a wrapper for a go or defer statement is in.
func wrapped(name string) (string, bool) {
	for _, kind := range []string{".gowrap", ".deferwrap"} {
		if i := strings.LastIndex(name, kind); i >= 0 {
			return name[:i], true
		}
	}
	return name, false
}
