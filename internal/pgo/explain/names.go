package explain

import (
	"net/url"
	"strings"
)

// split splits the linker's name of a function into the package's path, which is "main" for all
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

// collapse replaces type arguments by [...], as profiles before Go 1.21 and execution traces
// do.
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

// unqualified returns a name of -m without its package: F for p.F. For a method without a
// package, T.M, it returns M, so callers must try both names.
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

// spelled returns the names of a function as -m writes them: the name alone in its package,
// else with the package's name, or its path if two packages have that name. They have no type
// arguments.
func spelled(path, pkgName, local string, own bool) []string {
	local = collapse(local)
	if own {
		return []string{local}
	}
	return []string{pkgName + "." + local, `"` + path + `".` + local}
}

// called returns the names of the target of a direct call as the compiler writes them: as in
// spelled, but a method of a pointer is (*p.T).M.
func called(path, pkgName, local string, own bool) []string {
	list := spelled(path, pkgName, local, own)
	method, pointer := strings.CutPrefix(collapse(local), "(*")
	if !pointer || own {
		return list
	}
	return []string{"(*" + pkgName + "." + method, "(*\"" + path + "\"." + method}
}

// callee returns the target of a call, as the compiler writes it: (*p.T).M for (*p.T).M(t, 1).
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

// wrapped returns the function that contains a wrapper for a go or defer statement.
func wrapped(name string) (string, bool) {
	for _, kind := range []string{".gowrap", ".deferwrap"} {
		if i := strings.LastIndex(name, kind); i >= 0 {
			return name[:i], true
		}
	}
	return name, false
}
